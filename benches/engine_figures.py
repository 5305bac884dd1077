#!/usr/bin/env python3
"""Measures the engine as people run it: `python3 benches/engine_figures.py target/release/fast-rlm [RUNS]`.

Every figure is the median of RUNS whole processes (default 9) that answer from a script, so that no time is a model's.
Prints rows for docs/performance.md: what, wall time, peak memory.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = os.path.abspath(sys.argv[1])
RUNS = int(sys.argv[2]) if len(sys.argv) > 2 else 9
HELPER = {"when": {"depth": 1}, "replies": [{"code": "FINAL(context)"}]}


def root(*codes):
    return {"when": {"depth": 0}, "replies": [{"code": code} for code in codes]}


def run(place, rules, session=None):
    """One process: its wall time in ms and its peak memory in MiB."""
    script = place / "script.json"
    script.write_text(json.dumps({"rules": rules}))
    command = [PROGRAM, "measure", "-q", "--max-calls", "100", "--primary-agent", f"scripted:{script}"]
    if session:
        command += ["--session-dir", str(session)]
    started = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=place)
    _, status, usage = os.wait4(child.pid, 0)
    took = (time.perf_counter() - started) * 1000
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, command
    return took, usage.ru_maxrss / 1024


def median(what, rules, prepare=None):
    runs = []
    for _ in range(RUNS):
        with tempfile.TemporaryDirectory() as place:
            place = Path(place)
            session = place / "session"
            if prepare:
                run(place, [root(*prepare)], session)
            runs.append(run(place, rules, session))
    wall, memory = (statistics.median(part) for part in zip(*runs))
    print(f"| {what} | {wall:.0f} ms | {memory:.0f} MiB |", flush=True)
    return wall


def steps(count, code="x = globals().get('x', 0) + 1\nprint(x)", before=()):
    return [root(*before, *[code] * count, "FINAL(1)")]


def batch(count):
    ask = f"got = await batch_llm_query(*[llm_query(i) for i in range({count})])"
    return [root(ask, f"FINAL(got == list(range({count})))"), HELPER]


BIG = ["text = 'abcdefgh' * 500_000", "table = {i: f'value {i}' for i in range(100_000)}"]
FIFTY = [f"v{i} = __import__('random').Random({i}).randbytes(4_000_000)" for i in range(9)] + ["FINAL(1)"]

one = median("one-step query, whole process", steps(0))
many = median("the same with 50 more steps", steps(50))
print(f"| a further step | {(many - one) / 50:.1f} ms | |")
kept = median("4 MB string and 100,000-entry dict, two steps", steps(0, before=BIG))
more = median("the same with 10 more steps", steps(10, before=BIG))
print(f"| a further step with both unchanged | {(more - kept) / 10:.1f} ms | |")
median("10 sub-agents at once", batch(10))
median("200 sub-agents at once", batch(200))
median("resume of a state of 50 MB, one step", steps(0), prepare=FIFTY)

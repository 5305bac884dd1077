#!/usr/bin/env python3
"""Measures the viewer on sessions that are larger than any should be: `python3 benches/scale_figures.py PROGRAM [CASE…]`.

Each case is made in a temporary directory (TMPDIR; at most 6 GB at once), measured once, and removed. A row for each:
`--stats` (time, peak memory), then the screens: first frame, everything read, the run opened, its last step
whole, a page of its output, the end of that output; and peak memory after all of it.
"""
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

from screen import Screen

PROGRAM = os.path.abspath(sys.argv[1])
LIMIT_MIB = 300


class Maker:
    """A session directory, written as fast as Python can."""

    def __init__(self, root):
        self.dir = os.path.join(root, "session")
        os.makedirs(os.path.join(self.dir, "logs"))

    def log(self, name):
        return open(os.path.join(self.dir, "logs", name), "w", buffering=1 << 20, encoding="utf-8")

    def state(self, queries=1, **more):
        rows = [
            {"query": f"question {n}", "final": n, "log_file": f"logs/run_{n}.jsonl", "run_id": f"r{n}"} for n in range(queries)
        ]
        with open(os.path.join(self.dir, "state.json"), "w") as file:
            json.dump({"version": 2, "queries": rows, "pending_query": None, **more}, file)


def line(kind, run="r0", parent=None, **fields):
    base = {"level": 30, "time": "2026-01-01T00:00:00Z", "run_id": run, "depth": 0 if parent is None else 1}
    if parent is not None:
        base["parent_run_id"] = parent
    return json.dumps({**base, "event_type": kind, **fields}, ensure_ascii=False) + "\n"


def step(number, output, run="r0", parent=None, code="print(1)"):
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110, "cost": 0.0001}
    fields = {"step": number, "code": code, "output": output, "hasError": False, "usage": usage}
    return line("execution_result", run, parent, **fields)


def text_of(size, word=""):
    """Lines of text, no two alike."""
    words = word * 20 or "of an output that goes on and on, as outputs do now"
    line = f"line {{:>9}} {words}\n"
    count = size // len(line.format(0).encode()) + 1
    return "".join(line.format(n) for n in range(count))


def transcript_of_5_gb(maker):
    output = text_of(100_000)
    with maker.log("run_0.jsonl") as log:
        log.write(line("agent_start"))
        for number in range(1, 50_001):
            log.write(step(number, "@", code=f"x = {number}").replace('"@"', json.dumps(f"{number}\n") [:-1] + json.dumps(output)[1:]))
        log.write(line("final_result", result=1) + line("agent_end"))
    maker.state()


def line_of_300_mb(maker):
    with maker.log("run_0.jsonl") as log:
        log.write(line("agent_start") + step(1, "short"))
        log.write(step(2, text_of(300_000_000)))
        log.write(step(3, "the last") + line("final_result", result=1) + line("agent_end"))
    maker.state()


def queries_10_000(maker):
    for number in range(10_000):
        run = f"r{number}"
        with maker.log(f"run_{number}.jsonl") as log:
            log.write(line("agent_start", run) + "".join(step(n, f"output {n}", run) for n in range(1, 6)))
            log.write(line("final_result", run, result=number) + line("agent_end", run))
    maker.state(10_000)


def agents_100_000(maker):
    with maker.log("run_0.jsonl") as log:
        log.write(line("agent_start") + step(1, "they start"))
        for number in range(1, 100_000):
            run, parent = f"a{number}", f"a{number // 10}" if number >= 10 else "r0"
            log.write(line("agent_start", run, parent) + step(1, "done", run, parent))
            log.write(line("final_result", run, parent, result=1) + line("agent_end", run, parent))
        log.write(step(2, "they are done") + line("final_result", result=1) + line("agent_end"))
    maker.state()


def output_of(size, word=""):
    def make(maker):
        with maker.log("run_0.jsonl") as log:
            log.write(line("agent_start") + step(1, text_of(size, word)))
            log.write(line("final_result", result=1) + line("agent_end"))
        maker.state()

    return make


def state_of_1_gb(maker):
    pickle = base64.b64encode(b"\x80\x04" + bytes(750_000) + b".").decode()
    row = {"pickle_b64": pickle, "type": "bytes", "preview": "b'...'", "comment": None, "note": None, "committed": False}
    with maker.log("run_0.jsonl") as log:
        log.write(line("agent_start") + step(1, "kept") + line("final_result", result=1) + line("agent_end"))
    maker.state()
    path = os.path.join(maker.dir, "state.json")
    with open(path) as file:
        head = file.read().rstrip("}")
    with open(path, "w", buffering=1 << 20, encoding="utf-8") as file:
        file.write(head + ', "variables": {')
        for number in range(1_000):
            file.write(f'{", " if number else ""}"v{number}": {json.dumps(row)}')
        file.write("}}")


CASES = {
    "5gb": ("a transcript of 5 GB, 50,000 steps", transcript_of_5_gb),
    "line": ("a line of 300 MB, its own text opened", line_of_300_mb),
    "queries": ("10,000 queries", queries_10_000),
    "agents": ("100,000 agents in one run", agents_100_000),
    "output": ("50 MB in one output", output_of(50_000_000)),
    "body": ("100 MB in one output", output_of(100_000_000)),
    "wide": ("100 MB in one output, none of it ASCII", output_of(100_000_000, "行")),
    "state": ("a state.json of 1 GB", state_of_1_gb),
}

# Keys to the step of a case, where that is not the last.
FROM_LAST = {"line": b"\x1b[A"}


def in_a_process(work, *arguments):
    """Memory that the making took would be counted as that of what is started here later."""
    pid = os.fork()
    if pid == 0:
        work(*arguments)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    if status:
        sys.exit(f"{arguments}: status {status}")


def stats(session, cache):
    env = {**os.environ, "FAST_RLM_CACHE_DIR": cache}
    started = time.perf_counter()
    process = subprocess.Popen([PROGRAM, session, "--stats", "--no-cache"], stdout=subprocess.DEVNULL, env=env)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{session}: status {status}")
    return time.perf_counter() - started, usage.ru_maxrss / 1024


def screens(session, cache, from_last):
    """`from_last` are the keys from the last step to the one whose output is looked at."""
    screen = Screen(PROGRAM, session, cache)
    first, read, _ = screen.frames(screen.started, b"Q", quiet=3, patience=60)
    opened, _, _ = screen.press(b"\r", b"code", quiet=1, patience=10)
    screen.press(b"ww", quiet=0.5, patience=2)
    screen.press(b"g", quiet=1, patience=2)
    _, last, _ = screen.press(b"G", quiet=1, patience=10)
    if from_last:
        _, last, _ = screen.press(from_last, quiet=3, patience=60)
    # From the tree of agents over the step and its code to the output.
    screen.press(b"www", quiet=0.5, patience=2)
    screen.press(b"g", quiet=0.5, patience=2)
    page, _, _ = screen.press(b"\x1b[6~", patience=10)
    end, _, _ = screen.press(b"G", quiet=1, patience=10)
    peak = screen.peak()
    screen.close()
    return first, read, opened, last, page, end, peak


def measure(name, what, make):
    root = tempfile.mkdtemp(prefix="fast-rlm-scale-")
    try:
        maker = Maker(root)
        in_a_process(make, maker)
        size = sum(os.path.getsize(os.path.join(at, file)) for at, _, files in os.walk(maker.dir) for file in files)
        cache = os.path.join(root, "cache")
        took, memory = stats(maker.dir, cache)
        first, read, opened, last, page, end, peak = screens(maker.dir, cache, FROM_LAST.get(name, b""))
        in_ms = " | ".join("-" if figure is None else f"{figure:.0f} ms" for figure in (first, read, opened, last, page, end))
        print(f"| {what} | {size / 1e6:,.0f} MB | {took:.2f} s, {memory:.0f} MiB | {in_ms} | {peak:.0f} MiB |", flush=True)
        if max(memory, peak) > LIMIT_MIB:
            print(f"  over {LIMIT_MIB} MiB: {name}", flush=True)
    finally:
        shutil.rmtree(root, ignore_errors=True)


print("| what | size | `--stats` | first frame | all read | run opened | last step | a page on | output's end | peak |")
print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
for name in sys.argv[2:] or CASES:
    measure(name, *CASES[name])

#!/usr/bin/env python3
"""Asks one session many queries: `python3 benches/soak_figures.py PROGRAM [QUERIES] [EVERY] [DIR]`.

The model is scripted and answers at once; each query is a process of its own that resumes the session, takes two steps
(one binds names anew, each EVERY-th query, 10 unless given, a name more; 0: none) and ends. A row for every tenth of the queries: the median time of
a query, what it took of a core, the peak memory of a process, and how large the session's files are. The last column is what follows from what
is kept: bytes that a query adds to all of them.
"""
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

PROGRAM = os.path.abspath(sys.argv[1])
QUERIES = int(sys.argv[2]) if len(sys.argv) > 2 else 2_000
EVERY = int(sys.argv[3]) if len(sys.argv) > 3 else 10
PLACE = sys.argv[4] if len(sys.argv) > 4 else None


def script(root, number):
    names = f"\nname_{number} = {{'of': {number}, 'data': list(range(50))}}" if EVERY and number % EVERY == 0 else ""
    code = f"total = globals().get('total', 0) + 1\nrows = [total] * 100{names}\nprint(total, len(rows))"
    path = os.path.join(root, "script.yaml")
    with open(path, "w") as file:
        json.dump({"replies": [{"code": code}, {"code": "FINAL(total)"}]}, file)
    return path


def ask(root, session, number):
    command = [PROGRAM, f"question {number}", "--primary-agent", f"scripted:{script(root, number)}", "--session-dir", session]
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "XDG_CONFIG_HOME": root})
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status or out.strip() != str(number + 1).encode():
        sys.exit(f"query {number}: status {status}, {out!r}")
    cpu = (usage.ru_utime + usage.ru_stime) * 1000
    return (time.perf_counter() - started) * 1000, cpu, usage.ru_maxrss / 1024


def sizes(session):
    size = lambda *names: sum(os.path.getsize(path) for path in (os.path.join(session, name) for name in names) if os.path.exists(path))
    logs = os.path.join(session, "logs")
    return (
        size("state.json"),
        size("events.db", "events.db-wal"),
        size("flow.db", "flow.db-wal"),
        sum(os.path.getsize(os.path.join(logs, name)) for name in os.listdir(logs)),
    )


def soak(root):
    session = os.path.join(root, "session")
    tenth, before = max(QUERIES // 10, 1), 0
    print("| queries | a query | of a core | peak | state.json | events.db | flow.db | logs | added by a query |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for start in range(0, QUERIES, tenth):
        asked = [ask(root, session, number) for number in range(start, start + tenth)]
        now = sizes(session)
        kib = " | ".join(f"{part / 1024:,.0f} KiB" for part in now)
        added = (sum(now) - before) / tenth
        times, cpu, memory = zip(*asked)
        took = f"{statistics.median(times):.0f} ms | {statistics.median(cpu):.0f} ms"
        print(f"| {start + tenth} | {took} | {max(memory):.0f} MiB | {kib} | {added:,.0f} B |", flush=True)
        before = sum(now)


root = PLACE or tempfile.mkdtemp(prefix="fast-rlm-soak-")
os.makedirs(root, exist_ok=True)
try:
    soak(root)
finally:
    if PLACE is None:
        shutil.rmtree(root, ignore_errors=True)

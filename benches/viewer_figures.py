#!/usr/bin/env python3
"""Measures the viewer as people run it: `python3 benches/viewer_figures.py target/release/fast-rlm-log SESSION [RUNS]`.

Every figure is the median of RUNS whole processes (default 9): wall time from start to exit, and peak memory. The first
row scans everything, the second takes what a scan before it left in the cache.
"""
import os
import statistics
import subprocess
import sys
import tempfile
import time

PROGRAM, SESSION = os.path.abspath(sys.argv[1]), sys.argv[2]
RUNS = int(sys.argv[3]) if len(sys.argv) > 3 else 9


def run(cache, *options):
    """One process: its wall time in ms and its peak memory in MiB."""
    started = time.perf_counter()
    process = subprocess.Popen(
        [PROGRAM, SESSION, "--stats", *options],
        stdout=subprocess.DEVNULL,
        env={**os.environ, "FAST_RLM_CACHE_DIR": cache},
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{SESSION}: status {status}")
    return (time.perf_counter() - started) * 1000, usage.ru_maxrss / 1024


def row(what, cache, *options):
    figures = [run(cache, *options) for _ in range(RUNS)]
    wall, memory = (statistics.median(column) for column in zip(*figures))
    print(f"| {what} | {wall:.1f} ms | {memory:.0f} MiB |")


with tempfile.TemporaryDirectory() as cache:
    row("`--stats --no-cache`", cache, "--no-cache")
    run(cache)
    row("`--stats`, scanned before", cache)

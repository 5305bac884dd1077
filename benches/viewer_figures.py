#!/usr/bin/env python3
"""Measures the viewer as people use it: `python3 benches/viewer_figures.py PROGRAM SESSION [RUNS]`.

Prints a row for each figure: the median and the best of RUNS (default 9), and peak memory. Text modes are whole
processes, from start to exit. The terminal program runs in a pseudo-terminal of 120x36: a figure is the time from the
start, or from a key, to the end of the frame that shows what is waited for.
"""
import os
import statistics
import subprocess
import sys
import tempfile
import time

from screen import Screen

PROGRAM, SESSION = os.path.abspath(sys.argv[1]), sys.argv[2]
RUNS = int(sys.argv[3]) if len(sys.argv) > 3 else 9


def row(what, figures, memory=None):
    figures = [figure for figure in figures if figure is not None] or [float("nan")]
    mib = f"{memory:.0f} MiB" if memory else "-"
    print(f"| {what} | {statistics.median(figures):.1f} ms | best {min(figures):.1f} ms | {mib} |", flush=True)


def text_mode(what, cache, *options):
    figures, memory = [], []
    for _ in range(RUNS):
        started = time.perf_counter()
        env = {**os.environ, "FAST_RLM_CACHE_DIR": cache}
        process = subprocess.Popen([PROGRAM, SESSION, "--stats", *options], stdout=subprocess.DEVNULL, env=env)
        _, status, usage = os.wait4(process.pid, 0)
        figures.append((time.perf_counter() - started) * 1000)
        memory.append(usage.ru_maxrss / 1024)
        if status:
            sys.exit(f"{SESSION}: status {status}")
    row(what, figures, max(memory))


def screens(cache):
    first, totals, key, opened, colours, last_step, hits, searched, memory = ([] for _ in range(9))
    for _ in range(RUNS):
        screen = Screen(PROGRAM, SESSION, cache)
        shown, complete, _ = screen.frames(screen.started, b"Q1")
        first.append(shown)
        totals.append(complete)
        memory.append(screen.peak())
        key += [screen.press(arrow)[0] for arrow in [b"\x1b[B", b"\x1b[A"] * 3]
        shown, coloured, _ = screen.press(b"\r", b"code")
        opened.append(shown)
        colours.append(coloured)
        screen.press(b"ww")
        last_step.append(screen.press(b"G")[1])
        screen.press(b"\\")
        hits.append(screen.press(b"summary", b" hit")[0])
        screen.press(b"\x1b[F" + b"\x7f" * 7)
        searched.append(screen.press(b"no such text", b"Nothing has it")[0])
        screen.close()
    row("`--tui`, first frame", first, max(memory))
    row("`--tui`, last frame of reading (totals complete)", totals)
    row("key to frame, overview", key)
    row("a run opened, first frame", opened)
    row("a run opened, with its syntax colours", colours)
    row("its last step", last_step)
    row("search, first hits after the last letter", hits)
    row("search of everything, from the last letter", searched)


with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryDirectory() as empty:
    text_mode("`--stats --no-cache`", empty, "--no-cache")
    text_mode("`--stats`, first time", cache)
    text_mode("`--stats`, scanned before", cache)
    screens(cache)

#!/usr/bin/env python3
"""Measures the viewer as people use it: `python3 benches/viewer_figures.py PROGRAM SESSION [RUNS]`.

Prints a row for each figure: the median and the best of RUNS (default 9), and peak memory. Text modes are whole
processes, from start to exit. The terminal program runs in a pseudo-terminal of 120x36: a figure is the time from the
start, or from a key, to the end of the frame that shows what is waited for.
"""
import fcntl
import os
import pty
import select
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time

PROGRAM, SESSION = os.path.abspath(sys.argv[1]), sys.argv[2]
RUNS = int(sys.argv[3]) if len(sys.argv) > 3 else 9
END_OF_FRAME = b"\x1b[?2026l"
QUIET = 0.4


def row(what, figures, memory=None):
    mib = f"{memory:.0f} MiB" if memory else "-"
    print(f"| {what} | {statistics.median(figures):.1f} ms | best {min(figures):.1f} ms | {mib} |", flush=True)


class Screen:
    """The terminal program, and what it writes."""

    def __init__(self, cache):
        self.started = time.perf_counter()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 36, 120, 0, 0))
            settings = {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "FAST_RLM_CACHE_DIR": cache}
            os.execve(PROGRAM, [PROGRAM, SESSION, "--tui", "--no-animation"], {**os.environ, **settings})

    def frames(self, since, part=b"", quiet=QUIET):
        """When the frame that has `part` in it ended, and the last one before `quiet` seconds without any; in ms."""
        seen, first, last = b"", None, None
        while select.select([self.fd], [], [], quiet if first is not None else 10)[0]:
            try:
                seen += os.read(self.fd, 1 << 16)
            except OSError:
                break
            now = (time.perf_counter() - since) * 1000
            if END_OF_FRAME in seen[seen.find(part) :] and part in seen:
                first, last = first if first is not None else now, now
        return first, last, seen

    def press(self, keys, part=b""):
        since = time.perf_counter()
        os.write(self.fd, keys)
        return self.frames(since, part)

    def peak(self):
        """Peak memory so far, in MiB (Linux)."""
        with open(f"/proc/{self.pid}/status") as status:
            return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))

    def close(self):
        os.write(self.fd, b"\x03\x03")
        os.waitpid(self.pid, 0)
        os.close(self.fd)


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
        screen = Screen(cache)
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
        found, all_found, _ = screen.press(b"summary", b" hit")
        hits.append(found)
        searched.append(all_found)
        screen.close()
    row("`--tui`, first frame", first, max(memory))
    row("`--tui`, last frame of reading (totals complete)", totals)
    row("key to frame, overview", key)
    row("a run opened, first frame", opened)
    row("a run opened, with its syntax colours", colours)
    row("its last step", last_step)
    row("search, first hits", hits)
    row("search, all", searched)


with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryDirectory() as empty:
    text_mode("`--stats --no-cache`", empty, "--no-cache")
    text_mode("`--stats`, first time", cache)
    text_mode("`--stats`, scanned before", cache)
    screens(cache)

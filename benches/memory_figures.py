#!/usr/bin/env python3
"""Peak memory of the viewer while huge steps are looked at: `python3 benches/memory_figures.py PROGRAM [SHAPE…]`.

Each shape is a session of one run, made in a temporary directory (TMPDIR, at most 1 GB) and removed. Its step is opened
and everything is done to it that a person can do; the highest figure of each action is VmHWM of the process after it, in
MiB (Linux). The column `opened` is the time until the last frame after the step was chosen.
"""
import fcntl
import json
import os
import shutil
import signal
import struct
import sys
import tempfile
import termios
import time

from screen import Screen

PROGRAM = os.path.abspath(sys.argv[1])
LIMIT_MIB = 300
MB = 1_000_000

HEAD = b'{"level": 30, "time": "2026-01-01T00:00:00Z", "run_id": "r0", "depth": 0, "event_type": '
START = HEAD + b'"agent_start"}\n'
RESULT = HEAD + b'"final_result", "result": 1}\n'
END = HEAD + b'"agent_end"}\n'


def filled(unit, size):
    """JSON text of a string: `unit` again and again, `size` bytes of it."""
    return unit * (size // len(unit))


def step(number, code=b"print(1)", output=b"one", reasoning=None):
    texts = b'"step": %d, "code": "%s", "output": "%s"' % (number, code, output)
    more = b"" if reasoning is None else b', "reasoning": "%s"' % reasoning
    return HEAD + b'"execution_result", "hasError": false, ' + texts + more + b"}\n"


def of_output(unit, size):
    return lambda: [step(1, output=filled(unit, size))]


def of_all(unit, size):
    def lines():
        text = filled(unit, size // 3)
        return [step(1, code=text, output=text, reasoning=text)]

    return lines


WORDS = b"of an output that goes on and on, as outputs do now, "
CJK = "行が長い".encode()

# What a shape is called, and its step's line.
SHAPES = {
    "small": ("2.5 MB, many lines", of_output(WORDS + b"\\n", 2_500_000)),
    "ascii60": ("60 MB, one line", of_output(WORDS, 60 * MB)),
    "ascii64": ("64 MiB, one line, no spaces", of_output(b"x", 64 << 20)),
    "ascii80": ("80 MB, one line", of_output(WORDS, 80 * MB)),
    "ascii300": ("300 MB, one line", of_output(WORDS, 300 * MB)),
    "cjk60": ("60 MB of CJK, one line", of_output(CJK, 60 * MB)),
    "cjk80": ("80 MB of CJK, one line", of_output(CJK, 80 * MB)),
    "escapes": ("180 MB of \\u00e9, one line", of_output(b"\\u00e9", 180 * MB)),
    "quotes": ("120 MB of escaped quotes and newlines", of_output(b'\\"a\\" \\\\ \\n', 120 * MB)),
    "controls": ("300 MB of \\u0007 and \\u001b", of_output(b"\\u0007\\u001b[", 300 * MB)),
    "tabs": ("80 MB of tabs and words", of_output(b"a\\tbc\\td\\t", 80 * MB)),
    "returns": ("80 MB of one line that restarts", of_output(b"10% of it is done\\r", 80 * MB)),
    "return": ("60 MB in a line that restarts once", lambda: [step(1, output=filled(b"x", 60 * MB) + b"\\rend")]),
    "colours": ("70 MB of colours, one line", of_output(b"\\u001b[31mred\\u001b[0m and ", 140 * MB)),
    "bidi": ("64 MB of bidi controls", of_output("\u202e".encode(), 64 * MB)),
    "invalid": ("60 MB that is no UTF-8", of_output(b"\xff", 60 * MB)),
    "short": ("60 MB of empty lines", of_output(b"\\n", 120 * MB)),
    "lines": ("60 MB of lines of 3 letters", of_output(b"abc\\n", 75 * MB)),
    "json": ("16 MB of JSON", lambda: [step(1, output=b"[" + filled(b"1,", 16_000_000) + b"1]")]),
    "all": ("code, output and reasoning of 60 MB each", of_all(WORDS, 180 * MB)),
    "all_lines": ("code, output and reasoning of 20 MB each, many lines", of_all(b"x = 'a' + f(1)\\n", 60 * MB)),
    "all_cjk": ("code, output and reasoning of 40 MB of CJK each", of_all(CJK, 120 * MB)),
    "all_tabs": ("code, output and reasoning of 30 MB each, tabs", of_all(b"\\ta = 'b'\\t# c\\n", 90 * MB)),
}


def make(root, lines, last):
    """The huge step is the run's last one, which has the result below its output, or has another after it."""
    session = os.path.join(root, "session")
    os.makedirs(os.path.join(session, "logs"))
    with open(os.path.join(session, "logs", "run_0.jsonl"), "wb") as log:
        log.write(START)
        log.writelines(lines())
        log.writelines([] if last else [step(2)])
        log.write(RESULT + END)
    row = {"query": "question", "final": 1, "log_file": "logs/run_0.jsonl", "run_id": "r0"}
    with open(os.path.join(session, "state.json"), "w") as state:
        json.dump({"version": 2, "queries": [row], "pending_query": None}, state)
    return session


class Browsing:
    """A person who tries everything, and what that took."""

    def __init__(self, session, cache):
        self.screen = Screen(PROGRAM, session, cache)
        self.screen.frames(self.screen.started, b"Q", quiet=2, patience=60)
        self.peaks = {"start": self.screen.peak()}
        self.last = None

    def act(self, name, keys, quiet=1.0, patience=20):
        _, self.last, _ = self.screen.press(keys, quiet=quiet, patience=patience)
        self.peaks[name] = self.screen.peak()

    def idle(self):
        """Waits until the process uses no processor any more: what it began in the background is done."""
        before, quiet = None, 0
        for _ in range(240):
            now = self.ticks()
            quiet = quiet + 1 if now == before else 0
            if quiet == 3:
                return
            before = now
            self.screen.frames(time.perf_counter(), quiet=0.25, patience=0.25)

    def ticks(self):
        with open(f"/proc/{self.screen.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return int(fields[11]) + int(fields[12])

    def resize(self, name, columns, rows):
        fcntl.ioctl(self.screen.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.kill(self.screen.pid, signal.SIGWINCH)
        self.act(name, b"", patience=20)

    def wrap(self, name):
        self.act(name, b":Wrap long\r", quiet=1, patience=20)

    def everything(self):
        """The run opens at its first step, with the code in focus."""
        self.act("opened", b"\r", quiet=2, patience=30)
        opened = self.last
        self.idle()
        self.act("settled", b"", quiet=0.1, patience=0.1)
        self.act("output", b"w")
        self.act("end", b"G")
        self.act("search", b"/a\r", quiet=2)
        self.act("next", b"nnnN")
        self.act("none", b"/zqxj\r", quiet=2)
        for name, columns, rows in [("narrow", 44, 20), ("tiny", 12, 8), ("wide", 200, 50)]:
            self.resize(name, columns, rows)
        self.wrap("wrap off")
        self.act("raw, sideways", b"v\x1b[F\x1b[H\x1b[C", quiet=2)
        self.wrap("wrap on")
        self.act("raw off", b"v", quiet=2)
        self.act("numbers", b"#")
        self.act("zoomed", b"+G-")
        self.act("copied", b"y", quiet=2)
        self.act("code", b"wwwG", quiet=2)
        self.act("code searched", b"/a\r", quiet=2)
        self.act("code raw", b"v", quiet=2)
        self.act("code copied", b"y", quiet=2)
        self.act("code rendered", b"v", quiet=2)
        self.act("reasoning", b"r", quiet=2)
        self.act("reasoning's end", b"Gy", quiet=2)
        self.act("closed", b"r", quiet=1)
        self.idle()
        self.act("exported", b"x", quiet=1)
        self.act("exported", b"\r", quiet=3, patience=30)
        self.idle()
        self.act("exported", b"\x1b", quiet=1)
        self.act("searched everywhere", b"\\", quiet=1)
        self.act("searched everywhere", b"summary", quiet=3, patience=30)
        self.idle()
        self.act("searched everywhere", b"", quiet=0.1, patience=0.1)
        return opened


def measure(name, last):
    what, lines = SHAPES[name]
    root = tempfile.mkdtemp(prefix="fast-rlm-memory-")
    here = os.getcwd()
    try:
        session = make_in_a_process(root, lines, last)
        os.chdir(root)
        browsing = Browsing(session, os.path.join(root, "cache"))
        opened = browsing.everything()
        peaks = browsing.peaks
        browsing.screen.close()
        worst = max(peaks.values())
        first = next(action for action, peak in peaks.items() if peak == worst)
        place = "last step" if last else "first step"
        shown = "-" if opened is None else f"{opened:.0f} ms"
        print(f"| {what}, {place} | {shown} | {peaks['settled']:.0f} | {worst:.0f} ({first}) |", flush=True)
        if os.environ.get("VERBOSE"):
            print("  " + " ".join(f"{action}={peak:.0f}" for action, peak in peaks.items()), flush=True)
        return worst <= LIMIT_MIB
    finally:
        os.chdir(here)
        shutil.rmtree(root, ignore_errors=True)


def make_in_a_process(root, lines, last):
    """Memory that the making took would be counted as that of what is started here later."""
    pid = os.fork()
    if pid == 0:
        make(root, lines, last)
        os._exit(0)
    if os.waitpid(pid, 0)[1]:
        sys.exit(f"{root}: the session could not be made")
    return os.path.join(root, "session")


print("| step | opened | settled, MiB | peak of everything, MiB (first at) |")
print("| --- | --- | --- | --- |")
fine = [measure(name, last) for name in sys.argv[2:] or SHAPES for last in (True, False)]
sys.exit(0 if all(fine) else f"over {LIMIT_MIB} MiB")

#!/usr/bin/env python3
"""Figures of a run that is driven from the terminal program: python3 benches/driving_figures.py target/release/fast-rlm-log

A scripted model lets Python print 200 lines a second. Measured in a pseudo-terminal of 120x36: processor time of the
whole program (Python included), the time from a key to its frame, the time from Ctrl-C until the screen says that the run
was cancelled, also with eight sub-agents, and what is written while nothing happens.
"""
import fcntl
import os
import pathlib
import pty
import select
import statistics
import struct
import sys
import tempfile
import termios
import time

SCRIPT = r'''replies:
  - "```repl\nimport time\nfor i in range(6000):\n    print('line', i, 'x' * 40)\n    time.sleep(0.005)\nFINAL(1)\n```"
'''
EIGHT = r"""rules:
  - when: {depth: 1}
    replies: [{code: "FINAL(1)", delay: "60s"}]
  - when: {depth: 0}
    replies: [{code: "print(await batch_llm_query(*[llm_query(f'part {n}') for n in range(8)]))"}]
"""
STATE = '{"version": 2, "queries": [], "variables": {}, "functions": {}, "dropped": {}, "code_log": []}'


class Program:
    """The program in a pseudo-terminal."""

    def __init__(self, binary, place, script):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "xterm-256color"
            os.execv(binary, [binary, str(place / "s"), "--tui", "--primary-agent", f"scripted:{place / script}"])
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 36, 120, 0, 0))

    def wait(self, seconds):
        """Reads what is written for a while; returns how many bytes."""
        count, end = 0, time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self.fd], [], [], left)[0]:
                try:
                    count += len(os.read(self.fd, 1 << 16))
                except OSError:  # It has ended.
                    return count
        return count

    def press(self, keys, rest=0.3):
        os.write(self.fd, keys)
        self.wait(rest)

    def ask(self):
        self.wait(1.5)
        self.press(b"a")
        self.press(b"go", 0.5)
        self.press(b"\r", 3)

    def cancel(self):
        """Milliseconds from Ctrl-C until the screen says that the run is cancelled."""
        begin = time.monotonic()
        os.write(self.fd, b"\x03")
        return self.until(begin, b"ancelled")

    def leave(self):
        os.close(self.fd)
        os.waitpid(self.pid, 0)

    def cpu(self):
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def load(self, seconds):
        before = self.cpu()
        written = self.wait(seconds)
        return (self.cpu() - before) / seconds * 100, written

    def until(self, begin, word, limit=5):
        """Milliseconds from `begin` until `word` was written."""
        seen = b""
        while word not in seen and time.monotonic() - begin < limit:
            if select.select([self.fd], [], [], 0.005)[0]:
                seen += os.read(self.fd, 1 << 16)
        return (time.monotonic() - begin) * 1000


def key_to_frame(program):
    """Opens the help, whose words nothing else on the screen has, and closes it."""
    program.wait(0.13)
    begin = time.monotonic()
    os.write(program.fd, b"?")
    taken = program.until(begin, b"searches")
    program.press(b"\x1b", 0.2)
    return taken


def streaming(binary, place):
    program = Program(binary, place, "stream.yaml")
    program.ask()
    print("| overview, 200 lines a second | %.1f%% of a core |" % program.load(8)[0])
    program.press(b"\x1b")
    program.press(b"G")
    program.press(b"\r", 1)
    print("| run screen, 200 lines a second | %.1f%% of a core |" % program.load(6)[0])
    taken = [key_to_frame(program) for _ in range(40)]
    print("| key to its frame, meanwhile | %.1f ms, %.1f at most |" % (statistics.median(taken), max(taken)))
    print("| Ctrl-C until the screen says cancelled | %.0f ms |" % program.cancel())
    program.wait(8)  # What is said about the cancelled run goes by itself.
    load, written = program.load(4)
    print("| idle | %.2f%% of a core, %d bytes |" % (load, written))
    program.leave()


def eight_agents(binary, place):
    program = Program(binary, place, "eight.yaml")
    program.ask()
    print("| the same with 8 sub-agents at their models | %.0f ms |" % program.cancel())
    program.leave()


def main():
    binary = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as directory:
        place = pathlib.Path(directory)
        (place / "s").mkdir()
        (place / "s" / "state.json").write_text(STATE)
        (place / "stream.yaml").write_text(SCRIPT)
        (place / "eight.yaml").write_text(EIGHT)
        streaming(binary, place)
        eight_agents(binary, place)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Figures of a run that is driven from the terminal program: python3 benches/driving_figures.py target/release/fast-rlm-log

A scripted model lets Python print 200 lines a second. Measured in a pseudo-terminal of 120x36: processor time of the
whole program (Python included), the time from a key to the first byte of its frame, the time from Ctrl-C until the screen
says that the run was cancelled, and what is written while nothing happens.
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
STATE = '{"version": 2, "queries": [], "variables": {}, "functions": {}, "dropped": {}, "code_log": []}'


class Program:
    """The program in a pseudo-terminal."""

    def __init__(self, binary, place):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "xterm-256color"
            os.execv(binary, [binary, str(place / "s"), "--tui", "--primary-agent", f"scripted:{place / 'model.yaml'}"])
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
    program.wait(0.13)
    begin = time.monotonic()
    os.write(program.fd, b"i")
    select.select([program.fd], [], [], 1)
    return (time.monotonic() - begin) * 1000


def main():
    binary = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as directory:
        place = pathlib.Path(directory)
        (place / "s").mkdir()
        (place / "s" / "state.json").write_text(STATE)
        (place / "model.yaml").write_text(SCRIPT)
        program = Program(binary, place)
        program.wait(1.5)
        program.press(b"a")
        program.press(b"stream", 0.5)
        program.press(b"\r", 3)
        print("| overview, 200 lines a second | %.1f%% of a core |" % program.load(8)[0])
        program.press(b"\x1b")
        program.press(b"G")
        program.press(b"\r", 1)
        print("| run screen, 200 lines a second | %.1f%% of a core |" % program.load(6)[0])
        latencies = [key_to_frame(program) for _ in range(16)]
        print("| key to the first byte of its frame, meanwhile | %.1f ms, %.1f at most |" % (statistics.median(latencies), max(latencies)))
        begin = time.monotonic()
        os.write(program.fd, b"\x03")
        print("| Ctrl-C until the screen says cancelled | %.0f ms |" % program.until(begin, b"ancelled"))
        program.wait(8)  # What is said about the cancelled run goes by itself.
        load, written = program.load(4)
        print("| idle | %.2f%% of a core, %d bytes |" % (load, written))
        os.close(program.fd)
        os.waitpid(program.pid, 0)


if __name__ == "__main__":
    main()

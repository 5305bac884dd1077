"""The terminal program in a pseudo-terminal of 120x36, for the scripts beside this."""
import fcntl
import os
import pty
import select
import struct
import termios
import time

END_OF_FRAME = b"\x1b[?2026l"
QUIET = 0.4


class Screen:
    """The terminal program, and what it writes."""

    def __init__(self, program, session, cache):
        self.started = time.perf_counter()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 36, 120, 0, 0))
            settings = {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "FAST_RLM_CACHE_DIR": cache}
            os.execve(program, [program, session, "--tui", "--no-animation"], {**os.environ, **settings})

    def frames(self, since, part=b"", quiet=QUIET, patience=10):
        """When the frame that has `part` in it ended, and the last one before `quiet` seconds without any; in ms. The
        first is waited for `patience` seconds."""
        seen, first, last = b"", None, None
        while select.select([self.fd], [], [], quiet if first is not None else patience)[0]:
            try:
                seen += os.read(self.fd, 1 << 16)
            except OSError:
                break
            now = (time.perf_counter() - since) * 1000
            if END_OF_FRAME in seen[seen.find(part) :] and part in seen:
                first, last = first if first is not None else now, now
        return first, last, seen

    def press(self, keys, part=b"", **waiting):
        since = time.perf_counter()
        os.write(self.fd, keys)
        return self.frames(since, part, **waiting)

    def peak(self):
        """Peak memory so far, in MiB (Linux)."""
        with open(f"/proc/{self.pid}/status") as status:
            return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))

    def close(self):
        os.write(self.fd, b"\x03\x03")
        os.waitpid(self.pid, 0)
        os.close(self.fd)

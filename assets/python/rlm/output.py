"""Where a step's printed text goes, and how values are printed."""

import io
import json
import sys

from _rlm import channel
from _rlm.text import clean

_WRITE_LIMIT = 1 << 20


class OutputLimitError(RuntimeError):
    """A step printed more than a step may."""

    __module__ = "builtins"  # shown without our module's name


class Stream:
    """A text stream that hands everything to the host at once."""

    encoding, errors, newlines, closed, mode = "utf-8", "strict", None, False, "w"
    written, limit = 0, 1 << 28  # of all streams together, in characters

    def __init__(self, number, name):
        self._number, self.name = number, name

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        Stream.written += len(text)
        if Stream.written > Stream.limit:
            raise OutputLimitError(f"the step printed more than {Stream.limit} characters")
        for start in range(0, len(text), _WRITE_LIMIT):
            part = text[start : start + _WRITE_LIMIT] if len(text) > _WRITE_LIMIT else text
            try:
                channel.emit(self._number, part)
            except UnicodeEncodeError:
                channel.emit(self._number, clean(part))
        return len(text)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def flush(self):
        pass

    def close(self):
        pass

    def isatty(self):
        return False

    def readable(self):
        return False

    def writable(self):
        return True

    def seekable(self):
        return False

    def fileno(self):
        raise io.UnsupportedOperation("fileno")

    def reconfigure(self, **options):
        pass

    @property
    def buffer(self):
        return _Bytes(self)


class _Bytes:
    """`sys.stdout.buffer`."""

    def __init__(self, stream):
        self._stream = stream

    def write(self, data):
        self._stream.write(bytes(data).decode("utf-8", "replace"))
        return len(data)

    def flush(self):
        pass


_streams = Stream(channel.STDOUT, "<stdout>"), Stream(channel.STDERR, "<stderr>")
_json = json.JSONEncoder(indent=2, ensure_ascii=False, default=repr)


def install():
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__ = _streams


def begin(limit):
    Stream.written, Stream.limit = 0, limit


def _shown(value):
    """A dict or list as indented JSON, where it has that form; anything else as `str`."""
    if type(value) is dict or type(value) is list:
        try:
            return _json.encode(value)
        except (TypeError, ValueError, RecursionError):
            return str(value)
    return str(value)


def print_values(*values, sep=" ", end="\n", file=None, flush=False):
    """Prints the values; dicts and lists as indented JSON."""
    sep, end = " " if sep is None else sep, "\n" if end is None else end
    for name, text in (("sep", sep), ("end", end)):
        if not isinstance(text, str):
            raise TypeError(f"{name} must be None or a string, not {type(text).__name__}")
    if file is None:
        file = sys.stdout
        if file is None:
            return
    show = _shown if isinstance(file, Stream) else str
    # One write a line: each is a call of the host.
    file.write(sep.join([show(value) for value in values]) + end)
    if flush and hasattr(file, "flush"):
        file.flush()


print_values.__name__ = print_values.__qualname__ = "print"

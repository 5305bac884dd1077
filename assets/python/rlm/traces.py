"""Errors of user code as text: a traceback without the engine's frames."""

import sys
import traceback

from _rlm.text import clean, shorten

_LIMIT = 20_000
_OURS = ("<rlm ", "<user>")


def _trim(trace):
    """Removes our frames from the whole tree of causes, contexts and grouped exceptions."""
    pending, seen = [trace], set()
    while pending:
        trace = pending.pop()
        if trace is None or id(trace) in seen:
            continue
        seen.add(id(trace))
        # Before any source line is looked up: ours would be searched for on disk.
        trace.stack[:] = [frame for frame in trace.stack if not frame.filename.startswith(_OURS)]
        pending += [trace.__cause__, trace.__context__, *(trace.exceptions or ())]


def _hint(error):
    """A word before the traceback of code that looks for the machine's files: each other path would fail alike."""
    kind = type(error)
    if not issubclass(kind, (FileNotFoundError, PermissionError)) or OSError.errno.__get__(error) is None:
        return ""
    if sys.platform == "wasi":
        return "(There are no files of the machine here: what there is to read is in `context`.)\n"
    if issubclass(kind, PermissionError):
        return "(Of the machine's files only libraries can be read, and only the working directory can be written to.)\n"
    return ""


def describe(error, of_source=False):
    """The traceback; never fails. An error of the source itself has none, only its place."""
    try:
        trace = traceback.TracebackException.from_exception(error, lookup_lines=False, compact=True)
        _trim(trace)
        lines = trace.format_exception_only() if of_source else trace.format()
        return _hint(error) + clean(shorten("".join(lines), _LIMIT))
    except BaseException:
        return f"{type(error).__name__} (its traceback cannot be shown)\n"


def summary(error):
    """The exception in one line: `ValueError: no such row`."""
    try:
        message = clean(shorten(str(error), 1_000))
    except BaseException:
        message = ""
    return f"{type(error).__name__}: {message}" if message else type(error).__name__

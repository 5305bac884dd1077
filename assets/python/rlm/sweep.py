"""Saves what persists of the namespace. What is saved: docs of the Rust type `Sweep`."""

import _pickle
import datetime
import decimal
import fractions
import types
import uuid

from _rlm import channel
from _rlm.names import names, space
from _rlm.preview import preview
from _rlm.text import clean
from _rlm.traces import summary

PROTOCOL = 4
# The size of a value that is too large is counted up to here.
_COUNT_LIMIT = 1 << 28

# Values of these types never change, so that the same object need not be pickled again.
_IMMUTABLE = frozenset(
    (
        str, bytes, int, float, bool, complex, type(None), range, datetime.date, datetime.datetime, datetime.time,
        datetime.timedelta, decimal.Decimal, fractions.Fraction, uuid.UUID,
    )
)  # fmt: skip

_Pickler = _pickle.Pickler
# name -> (identity, result) of the last sweep, for immutable values. Objects are not kept alive: the identity
# is the address with the hash, which both must be taken by an equal value to be mistaken.
_cache = {}


class _TooLarge(Exception):
    pass


class _Sink:
    """Collects a pickle up to a limit, and its size beyond it."""

    def __init__(self, limit):
        self.parts, self.size, self.limit = [], 0, limit

    def write(self, data):
        self.size += len(data)
        if self.size <= self.limit:
            self.parts.append(bytes(data))
        else:
            self.parts.clear()
            if self.size > _COUNT_LIMIT:
                raise _TooLarge
        return len(data)


def _identity(value):
    if type(value) not in _IMMUTABLE:
        return None
    try:
        return id(value), type(value), hash(value)
    except TypeError:  # a signalling NaN
        return None


def _pickle_value(value, limit):
    """(pickle, None) or (None, {reason, size})."""
    sink = _Sink(limit)
    try:
        _Pickler(sink, PROTOCOL).dump(value)
    except _TooLarge:
        reason = f"too large to save: more than {_COUNT_LIMIT} bytes (the limit is {limit})"
        return None, {"reason": reason, "size": sink.size}
    except BaseException as error:
        return None, {"reason": f"not picklable: {summary(error)}", "size": None}
    if sink.size > limit:
        return None, {"reason": f"too large to save: {sink.size} bytes (the limit is {limit})", "size": sink.size}
    return b"".join(sink.parts), None


def _sourceless(value):
    """A function or class of a step that pickles by its name, but whose source is not known: it could not be restored."""
    if not isinstance(value, (type, types.FunctionType)) or value.__module__ != "__main__":
        return False
    root = value.__qualname__.partition(".")[0]
    return root in space and root not in names.definitions


def _is_engines(value):
    return any(value is own for own in names.engine.values())


class _Sweep:
    def __init__(self, limit):
        self.limit, self.variables, self.functions, self.dropped = limit, [], [], []

    def drop(self, name, value, reason, size):
        self.dropped.append({"name": name, "type": type(value).__name__, "reason": clean(reason), "size": size})

    def take(self, name, value):
        source, defined = names.definitions.get(name, (None, None))
        if defined is value and source is not None:
            self.functions.append({"name": name, "source": clean(source)})
        elif _is_engines(value):
            self.drop(name, value, "a function of the engine", None)
        elif _sourceless(value):
            self.drop(name, value, "its source is not known: it was not defined by a step's own statement", None)
        else:
            self.value(name, value)

    def value(self, name, value):
        identity = _identity(value)
        known, result = _cache.get(name, (None, None))
        if identity is None or identity != known:
            result = self.save(name, value)
            changed = True
        else:
            changed = False
        if identity is not None:
            _cache[name] = (identity, result)
        else:
            _cache.pop(name, None)
        if result is not None:
            return self.drop(name, value, result["reason"], result["size"])
        self.variables.append(
            {
                "name": name,
                "sent": changed,
                "type": type(value).__name__,
                "preview": clean(preview(value)),
                "comment": names.comments.get(name),
                "note": names.notes.get(name),
                "committed": name in names.committed,
            }
        )

    def save(self, name, value):
        """Sends the pickle to the host, which knows whether it differs from the last. Returns why it cannot be saved."""
        channel.send_json(channel.NOTE, {"kind": "variable", "name": name})
        data, problem = _pickle_value(value, self.limit)
        if problem is None:
            channel.send(channel.VALUE, name.encode() + b"\n" + data)
        return problem


def remember(name, value):
    """A value that was just restored from what the host holds: the next sweep need not send it."""
    identity = _identity(value)
    if identity is not None:
        _cache[name] = (identity, None)


def run(command):
    sweep = _Sweep(command["pickle_bytes"])
    for name in [name for name in _cache if name not in space]:
        del _cache[name]
    for name, value in list(space.items()):
        if type(name) is str and names.is_memory(name):
            sweep.take(name, value)
    return {
        "variables": sweep.variables,
        "functions": sweep.functions,
        "dropped": sweep.dropped,
        "imports": names.live_imports(),
    }

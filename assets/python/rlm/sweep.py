"""Saves what persists of the namespace. What is saved: docs of the Rust type `Sweep`."""

import _pickle
import datetime
import decimal
import fractions
import hashlib
import types
import uuid

from _rlm import channel
from _rlm.answers import dumps
from _rlm.names import LONGEST, is_a, names, space
from _rlm.preview import Interrupt, preview
from _rlm.text import clean
from _rlm.traces import summary

PROTOCOL = 4
# The size of a value that is too large is counted up to here.
_COUNT_LIMIT = 1 << 28
# Values go to the host together, up to so many bytes in a message: one each would take longer than saving them.
_TOGETHER = 1 << 18
# A character takes at most so many bytes of JSON; what else is said of a value takes no more than the second.
_WIDEST, _AROUND = 12, 1_000

# Values of these types never change, so that the same object need not be pickled again.
_IMMUTABLE = frozenset(
    (
        str, bytes, int, float, bool, complex, type(None), range, datetime.date, datetime.datetime, datetime.time,
        datetime.timedelta, decimal.Decimal, fractions.Fraction, uuid.UUID,
    )
)  # fmt: skip

# Values that are pickled without code of their own, where what they hold is, too; of so many it is looked at.
_CONTAINERS, _FEW = (list, tuple, set, frozenset, dict), 10_000

_Pickler = _pickle.Pickler
_blake2b = hashlib.blake2b
# name -> (identity or None, digest of the pickle or None, why it cannot be saved or None, preview or None), of the last
# sweep or of the restore: what the host has. Objects are not kept alive: an identity is the address with the hash, and a
# value would have to take both to be mistaken for another.
_known = {}


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


def pickled(value, limit):
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


def _digest(data):
    return _blake2b(data, digest_size=32).hexdigest()


def _sourceless(value):
    """A function or class of a step that pickles by its name, but whose source is not known: it could not be restored."""
    if not is_a(value, (type, types.FunctionType)) or value.__module__ != "__main__":
        return False
    root = value.__qualname__.partition(".")[0]
    return root in space and root not in names.definitions


def _is_harmless(value):
    """Pickling it runs no code of its own, and does not go deep."""
    kind = type(value)
    if kind in _CONTAINERS:
        # What they hold cannot be told where it is much.
        inside = value.values() if kind is dict else value
        return len(value) <= _FEW and _IMMUTABLE.issuperset(map(type, inside))
    return kind in _IMMUTABLE or kind in (type, types.FunctionType)


class _Sweep:
    def __init__(self, limit, places):
        self.limit, self.places = limit, places
        self.same, self.functions, self.dropped = [], [], []
        self.engines = {id(value) for value in names.engine.values()}
        # Whether the next value may end the interpreter: the host is told its name before, and has those before it.
        self.risky = False
        # What was sent, and what is about to be: entries with their pickles, and about how many bytes that is.
        self.sent, self.entries, self.pickles, self.size = 0, [], [], 0

    def drop(self, name, value, reason, size):
        self.dropped.append({"name": name, "type": type(value).__name__, "reason": clean(reason), "size": size})

    def send(self, entry, pickle):
        said = sum(len(entry[key] or "") for key in ("name", "type", "preview", "comment", "note"))
        size = len(pickle) + said * _WIDEST + _AROUND
        if self.size + size > _TOGETHER:
            self.flush()
        entry["bytes"] = len(pickle)
        self.entries.append(entry)
        self.pickles.append(pickle)
        self.size += size
        if self.risky:
            self.flush()

    def flush(self):
        if self.entries:
            channel.send(channel.VALUE, dumps(self.entries).encode() + b"\n" + b"".join(self.pickles))
        self.sent += len(self.entries)
        self.entries, self.pickles, self.size = [], [], 0

    def take(self, name, value):
        """One that cannot be looked at costs itself alone."""
        try:
            self.look_at(name, value)
        except (MemoryError, Interrupt):
            raise
        except BaseException as error:
            self.drop(name, value, f"it cannot be looked at: {summary(error)}", None)

    def look_at(self, name, value):
        source, defined = names.definitions.get(name, (None, None))
        if defined is value and source is not None:
            self.functions.append({"name": name, "source": clean(source)})
        elif id(value) in self.engines:
            self.drop(name, value, "a function of the engine", None)
        elif _sourceless(value):
            self.drop(name, value, "its source is not known: it was not defined by a step's own statement", None)
        else:
            self.value(name, value)

    def value(self, name, value):
        identity = _identity(value)
        before, digest, problem, shown = _known.get(name, (None, None, None, None))
        data = None
        if identity is None or identity != before:
            if self.risky:
                channel.send_json(channel.NOTE, {"kind": "variable", "name": name})
            data, now, problem = self.pickle(value, digest)
            # What is saved as before shows as before.
            shown = shown if now == digest else None
            digest = now
        if problem is not None:
            _known[name] = identity, digest, problem, None
            return self.drop(name, value, problem["reason"], problem["size"])
        if shown is None:
            shown = clean(preview(value))
        _known[name] = identity, digest, None, shown
        entry = {
            "name": name,
            "place": self.places[name],
            "digest": digest,
            "type": type(value).__name__,
            "preview": shown,
            "comment": names.comments.get(name),
            "note": names.notes.get(name),
            "committed": name in names.committed,
        }
        if data is None:
            self.same.append(entry)
        else:
            self.send(entry, data)

    def pickle(self, value, before):
        """(what the host has to be sent, its digest, why it cannot be saved); it has what has the digest `before`."""
        data, problem = pickled(value, self.limit)
        if problem is not None:
            return None, None, problem
        digest = _digest(data)
        return None if digest == before else data, digest, None


def remember(name, value, pickle):
    """A value that was just restored from what the host has: the next sweep need not send it."""
    _known[name] = _identity(value), _digest(pickle), None, None


def run(command):
    for name in [name for name in _known if name not in space]:
        del _known[name]
    memory = [(name, value) for name, value in space.items() if type(name) is str and names.is_memory(name)]
    places = {name: place for place, (name, _) in enumerate(memory)}
    sweep = _Sweep(command["pickle_bytes"], places)
    # A value that is nested deeper than the stack, or code of its own that pickling runs, can end the interpreter: such
    # values come last, because the host keeps what it was sent until then.
    risky = []
    for name, value in memory:
        if _is_harmless(value):
            sweep.take(name, value)
        else:
            risky.append((name, value))
    sweep.flush()
    if risky:
        channel.send_json(channel.NOTE, {"functions": sweep.functions, "imports": names.live_imports()})
    sweep.risky = True
    for name, value in risky:
        sweep.take(name, value)
    for name in names.too_long():
        shown = clean(f"{name[:100]}…")
        places.setdefault(shown, len(places))
        sweep.drop(shown, space[name], f"its name is longer than {LONGEST} characters", None)
    sweep.functions.sort(key=lambda entry: places[entry["name"]])
    sweep.dropped.sort(key=lambda entry: places[entry["name"]])
    return {
        "same": sweep.same,
        "sent": sweep.sent,
        "functions": sweep.functions,
        "dropped": sweep.dropped,
        "imports": names.live_imports(),
    }

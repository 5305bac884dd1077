"""`repr` at a bounded cost: of a container with a million entries only as many are visited as are shown."""

import collections

LIMIT = 2_000
_DEPTH = 40


class Interrupt(KeyboardInterrupt):
    """The host's own, which ends the step: what shows values passes it on, while one that a value raises is shown."""


# For whoever sees it, it is what Python calls it.
Interrupt.__name__ = Interrupt.__qualname__ = "KeyboardInterrupt"
Interrupt.__module__ = "builtins"


class _Full(Exception):
    """The preview has all the characters that it may have."""


class _Preview:
    def __init__(self, limit):
        self.parts, self.left, self.open = [], limit, set()

    def put(self, text):
        if len(text) >= self.left:
            self.parts.append(text[: self.left])
            self.left = 0
            raise _Full
        self.parts.append(text)
        self.left -= len(text)

    def show(self, value):
        writer = _WRITERS.get(type(value))
        if writer is None:
            self.put(_own_repr(value))
        elif id(value) in self.open or len(self.open) > _DEPTH:
            self.put("...")
        else:
            self.open.add(id(value))
            writer(self, value)
            self.open.discard(id(value))

    def items(self, before, values, after):
        self.put(before)
        for index, value in enumerate(values):
            if index:
                self.put(", ")
            self.show(value)
        self.put(after)

    def pairs(self, before, mapping, after):
        self.put(before)
        for index, (key, value) in enumerate(mapping):
            if index:
                self.put(", ")
            self.show(key)
            self.put(": ")
            self.show(value)
        self.put(after)


def _own_repr(value):
    try:
        text = repr(value)
        return text if type(text) is str else str.__str__(text)
    except Interrupt:
        raise
    except BaseException as error:
        return f"<{type(value).__name__} object whose repr failed: {type(error).__name__}>"


def _text(preview, value):
    # The quotes depend on the whole text; for one that is cut anyway its start decides.
    preview.put(repr(value if len(value) <= preview.left else value[: preview.left]))


def _integer(preview, value):
    bits = value.bit_length()
    preview.put(repr(value) if bits < 10_000 else f"<int of {bits} bits>")


def _tuple(preview, value):
    preview.items("(", value, ",)" if len(value) == 1 else ")")


def _set(preview, value):
    preview.items("{", value, "}") if value else preview.put("set()")


def _frozenset(preview, value):
    preview.items("frozenset({", value, "})") if value else preview.put("frozenset()")


def _deque(preview, value):
    preview.items("deque([", value, "])" if value.maxlen is None else f"], maxlen={value.maxlen})")


def _counter(preview, value):
    if not value:
        return preview.put("Counter()")
    # Its own repr puts the most common first; sorting a large one would cost more than a preview may.
    try:
        pairs = value.most_common() if len(value) <= LIMIT else value.items()
    except TypeError:
        pairs = value.items()
    preview.pairs("Counter({", pairs, "})")


def _default_dict(preview, value):
    preview.put("defaultdict(")
    preview.show(value.default_factory)
    preview.pairs(", {", value.items(), "})")


_WRITERS = {
    str: _text,
    bytes: _text,
    bytearray: lambda preview, value: preview.put(repr(bytearray(value[: preview.left]))),
    int: _integer,
    list: lambda preview, value: preview.items("[", value, "]"),
    tuple: _tuple,
    set: _set,
    frozenset: _frozenset,
    dict: lambda preview, value: preview.pairs("{", value.items(), "}"),
    collections.deque: _deque,
    collections.Counter: _counter,
    collections.defaultdict: _default_dict,
    collections.OrderedDict: lambda preview, value: preview.pairs("OrderedDict({", value.items(), "})"),
}


def preview(value, limit=LIMIT):
    """At most `limit` characters of the value's `repr`. Whatever the value's own methods do, only the host's interrupt ends it."""
    writer = _Preview(limit)
    try:
        writer.show(value)
    except _Full:
        pass
    except Interrupt:
        raise
    except BaseException as error:
        writer.parts.append(f"<{type(error).__name__}>")
    return "".join(writer.parts)[:limit]

"""Any Python value as JSON, for FINAL and for the arguments of host calls. The rules: docs/formats-final.md.

Nothing is dropped and nothing fails: what has no JSON form becomes a string that says what it was.
"""

import base64
import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import json
import math
import pathlib
import types
import uuid

from _rlm.preview import Interrupt, preview
from _rlm.text import clean

# Deeper values become text: readers of the JSON have limits of their own.
DEPTH = 100
# About 4,200 digits. Python refuses to write longer ones in decimal, because it takes quadratic time.
_DECIMAL_BITS = 14_000
_RANGE = 100_000

_dumps = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), check_circular=False).encode
_FUNCTIONS = (type, types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType)
_AS_TEXT = (decimal.Decimal, fractions.Fraction, uuid.UUID, pathlib.PurePath, datetime.timedelta, complex)


class Unawaited(TypeError):
    """A call that was not awaited stands where a value should."""


class _Encoder:
    def __init__(self):
        self.converted, self.open = False, set()

    def encode(self, value):
        kind = type(value)
        if value is None or kind is bool:
            return value
        if kind is str:
            return self.text(value)
        if kind is int:
            return self.integer(value)
        if kind is float:
            return self.number(value)
        if id(value) in self.open:
            self.converted = True
            return f"<cycle: {kind.__name__}>"
        if len(self.open) >= DEPTH:
            self.converted = True
            return clean(preview(value))
        self.open.add(id(value))
        try:
            return self.compound(value, kind)
        except (MemoryError, RecursionError, Interrupt, Unawaited):
            raise
        except BaseException as error:
            self.converted = True
            return f"<{kind.__name__} that cannot be encoded: {type(error).__name__}>"
        finally:
            self.open.discard(id(value))

    def text(self, value):
        cleaned = clean(value)
        self.converted |= cleaned is not value
        return cleaned

    def integer(self, value):
        if -(2**63) <= value < 2**64:
            return value
        self.converted = True
        return str(value) if value.bit_length() <= _DECIMAL_BITS else hex(value)

    def number(self, value):
        if math.isfinite(value):
            return value
        self.converted = True
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"

    def compound(self, value, kind):
        if kind is list:
            return [self.encode(item) for item in value]
        if kind is dict:
            return self.mapping(value.items())
        self.converted = True
        if isinstance(value, enum.Enum):
            return self.text(value.value if isinstance(value.value, str) else value.name)
        return self.built_in(value, kind)

    def built_in(self, value, kind):
        if isinstance(value, str):
            return clean(str.__str__(value))
        if isinstance(value, int):
            return self.integer(int.__int__(value))
        if isinstance(value, float):
            return self.number(float.__float__(value))
        if isinstance(value, (bytes, bytearray, memoryview)):
            return {"base64": base64.b64encode(bytes(value)).decode()}
        if isinstance(value, (set, frozenset)):
            return [self.encode(item) for item in _sorted(value)]
        if isinstance(value, tuple) and hasattr(kind, "_fields"):
            return self.mapping(zip(kind._fields, value))
        if isinstance(value, (list, tuple, collections.deque)) or kind is range and len(value) <= _RANGE:
            return [self.encode(item) for item in value]
        if isinstance(value, (dict, collections.abc.Mapping)):
            return self.mapping(value.items())
        return self.library(value, kind)

    def library(self, value, kind):
        if issubclass(kind, collections.abc.Coroutine):
            raise Unawaited(f"this is no value: {clean(preview(value))}; await it first")
        if isinstance(value, (datetime.date, datetime.time)):
            return value.isoformat()
        if isinstance(value, _AS_TEXT):
            return clean(str(value))
        if isinstance(value, BaseException):
            return clean(f"{kind.__name__}: {value}")
        if isinstance(value, _FUNCTIONS):
            return clean(preview(value))
        if dataclasses.is_dataclass(value):
            names = [field.name for field in dataclasses.fields(value)]
            return self.mapping((name, getattr(value, name, None)) for name in names)
        attributes = _attributes(value, kind)
        return self.mapping(attributes.items()) if attributes else clean(preview(value))

    def mapping(self, pairs):
        result = {}
        for key, value in pairs:
            name = self.text(key) if type(key) is str else self.key(key)
            count = 1
            unique = name
            while unique in result:
                count += 1
                unique = f"{name} ({count})"
            result[unique] = self.encode(value)
        return result

    def key(self, key):
        self.converted = True
        encoded = self.encode(key)
        return encoded if isinstance(encoded, str) else _dumps(encoded)


def _sorted(values):
    try:
        return sorted(values)
    except Interrupt:
        raise
    except BaseException:
        return sorted(values, key=lambda value: (type(value).__name__, preview(value)))


def _attributes(value, kind):
    """The public attributes that the object itself holds."""
    found = {}
    for base in kind.__mro__:
        slots = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if not name.startswith("_") and hasattr(value, name):
                found[name] = getattr(value, name)
    own = getattr(value, "__dict__", None)
    if type(own) is dict:
        found.update((name, item) for name, item in own.items() if type(name) is str and not name.startswith("_"))
    return found


def encode(value):
    """The value as what `json` can write, and whether anything in it had to be converted."""
    encoder = _Encoder()
    return encoder.encode(value), encoder.converted


def to_json(value):
    """The value as JSON text without lone surrogates, and whether anything in it had to be converted."""
    encoded, converted = encode(value)
    return _dumps(encoded), converted

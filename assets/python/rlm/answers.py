"""The host's answers as Python has them: a value, or an exception of its kind. What they travel through is the channel's."""

import asyncio
import json

dumps = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode
loads = json.JSONDecoder().decode

# Exceptions that the host may raise, by name.
_EXCEPTIONS = {
    kind.__name__: kind
    for kind in (RuntimeError, PermissionError, ValueError, TypeError, TimeoutError, MemoryError, KeyError, OSError)
}


class StepCancelled(asyncio.CancelledError):
    """Raised where a blocking host call was cut short because the step is being cancelled."""


def failure(text):
    """The exception for an error that the host reports as JSON."""
    try:
        error = loads(text)
        kind, message = error["exception"], error["message"]
    except (ValueError, TypeError, KeyError):
        kind, message = "RuntimeError", str(text)
    if kind == "Cancelled":
        return StepCancelled(message)
    return _EXCEPTIONS.get(kind, RuntimeError)(message)


def outcome(reply):
    """What a call comes to."""
    if reply.get("ok"):
        return reply.get("value")
    raise failure(reply.get("error"))

"""Tools: Python functions from a file given to the run, and functions that the host runs.

Each call passes the host first, which may refuse it or answer it from a record, and is reported when it has ended.
"""

import _pickle
import ast
import base64
import builtins
import functools
import inspect
import linecache
import pickle
import types

from _rlm import channel
from _rlm.encode import encode
from _rlm.names import names, space
from _rlm.traces import summary

_RECORD_LIMIT = 1 << 20


def _call(name, args, kwargs):
    return {"name": name, "args": encode(list(args))[0], "kwargs": encode(dict(kwargs))[0]}


def _served(reply):
    """(True, value) if the host answers from its record; what was raised is raised again."""
    if "raise" in reply:
        raise _recorded(**reply["raise"])
    if "pickle" in reply:
        return True, pickle.loads(base64.b64decode(reply["pickle"]))
    if "value" in reply:
        return True, reply["value"]
    return False, None


def _recorded(type, message):
    """The exception of that name: a built-in one, or one made for it."""
    kind = getattr(builtins, type, None)
    if not (isinstance(kind, builtins.type) and issubclass(kind, Exception)):
        kind = builtins.type(type, (RuntimeError,), {})
    try:
        # A KeyError's text is the repr of its key.
        return kind(ast.literal_eval(message) if kind is KeyError else message)
    except Exception:
        return RuntimeError(f"{type}: {message}")


def _pickled(value):
    try:
        data = _pickle.dumps(value, 4)
    except Exception:
        return None
    return base64.b64encode(data).decode() if len(data) <= _RECORD_LIMIT else None


def _ended(call, value):
    return {**call, "ok": True, "value": encode(value)[0], "pickle": _pickled(value), "error": None}


def _raised(call, error):
    kind, _, message = summary(error).partition(": ")
    return {**call, "ok": False, "value": None, "pickle": None, "error": {"type": kind, "message": message}}


def _sync(name, function):
    def tool(*args, **kwargs):
        call = _call(name, args, kwargs)
        done, value = _served(channel.ask("tool_begin", call))
        if done:
            return value
        try:
            value = function(*args, **kwargs)
        except Exception as error:
            channel.ask("tool_end", _raised(call, error))
            raise
        channel.ask("tool_end", _ended(call, value))
        return value

    return functools.wraps(function)(tool)


def _async(name, function):
    async def tool(*args, **kwargs):
        call = _call(name, args, kwargs)
        done, value = _served(await channel.call("tool_begin", call))
        if done:
            return value
        try:
            value = await function(*args, **kwargs)
        except Exception as error:
            await channel.call("tool_end", _raised(call, error))
            raise
        await channel.call("tool_end", _ended(call, value))
        return value

    return functools.wraps(function)(tool)


def _of_host(description):
    name = description["name"]
    if description["is_async"]:

        async def tool(*args, **kwargs):
            return await channel.call("tool_call", _call(name, args, kwargs))

    else:

        def tool(*args, **kwargs):
            return channel.ask("tool_call", _call(name, args, kwargs))

    tool.__name__ = tool.__qualname__ = name
    tool.__doc__ = description["doc"]
    return tool


def _functions(number, file):
    """The public functions that a tool file defines itself."""
    module = types.ModuleType(f"_rlm_tools_{number}")
    code = compile(file["source"], file["file"], "exec", dont_inherit=True)
    # Without lines: tracebacks and `inspect` tell what is called, never its source.
    linecache.cache[file["file"]] = (0, None, [], file["file"])
    module.__file__ = file["file"]
    exec(code, module.__dict__)
    return {
        name: value
        for name, value in module.__dict__.items()
        if isinstance(value, types.FunctionType) and not name.startswith("_") and value.__module__ == module.__name__
    }


def _listing(name, signature, doc, is_async):
    return {"name": name, "signature": signature, "doc": doc, "is_async": is_async}


def _signature(function):
    try:
        return str(inspect.signature(function))
    except (TypeError, ValueError):
        return "(...)"


def load(files, host_tools):
    """Binds the tools. Returns (listing for the model, [(file, reason)] of what could not be loaded)."""
    listing, errors = [], []
    for number, file in enumerate(files):
        channel.send_json(channel.NOTE, {"kind": "tools", "name": file["file"]})
        try:
            functions = _functions(number, file)
        except BaseException as error:
            errors.append([file["file"], summary(error)])
            continue
        wanted = file["only"]
        for name in wanted or ():
            if name not in functions:
                errors.append([file["file"], f"it defines no function {name!r}"])
        for name, function in functions.items():
            if wanted is not None and name not in wanted:
                continue
            if name in names.engine or hasattr(builtins, name):
                errors.append([file["file"], f"{name!r} is taken: rename the function"])
                continue
            is_async = inspect.iscoroutinefunction(function)
            names.engine[name] = space[name] = (_async if is_async else _sync)(name, function)
            listing.append(_listing(name, _signature(function), inspect.getdoc(function), is_async))
    for description in host_tools:
        name = description["name"]
        names.engine[name] = space[name] = _of_host(description)
        listing.append(_listing(name, description["signature"], description["doc"] or None, description["is_async"]))
    return listing, errors

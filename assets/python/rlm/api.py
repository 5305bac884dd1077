"""The engine's functions that model-written code calls."""

import asyncio
import collections.abc
import re

from _rlm import channel
from _rlm.encode import encode, to_json
from _rlm.names import names, space

ROOT, SUB_AGENT, LEAF = "root", "sub_agent", "leaf"
role = ROOT


def FINAL(value):
    """Ends the run with this value, when the step ends."""
    text, converted = to_json(value)
    channel.send(channel.FINAL, b"%d%s" % (converted, text.encode()))


def commit(name, note=None):
    """Saves the variable `name` (a string) in any case, and attaches a note that says what it holds."""
    if role != ROOT:
        raise RuntimeError("commit() works in the root agent only: a sub-agent has no session")
    if not isinstance(name, str):
        raise TypeError(f"commit() takes the variable's name as a string, not its value ({type(name).__name__})")
    if name not in space:
        raise NameError(f"there is no variable {name!r} to commit")
    if name in names.engine:
        raise ValueError(f"{name!r} is the REPL's own")
    if note is not None and not isinstance(note, str):
        raise TypeError(f"the note is a string, not {type(note).__name__}")
    names.committed.add(name)
    names.strong.add(name)
    if note is not None:
        names.notes[name] = note


async def _ask(question, options=None):
    if role != ROOT:
        raise RuntimeError("ask() works in the root agent only: a sub-agent cannot reach a human")
    arguments = {"question": str(question), "options": None if options is None else [str(item) for item in options]}
    return await channel.call("ask", encode(arguments)[0])


def ask(question, options=None):
    """Asks the human; await it. `options` are the answers to choose from."""
    return _ask(question, options)


def _granted(items):
    """Names of tools or servers, which may be given as the functions themselves."""
    if items is None:
        return None
    if isinstance(items, str) or callable(items):
        items = [items]
    return [item if isinstance(item, str) else item.__name__ for item in items]


class Query(collections.abc.Coroutine):
    """A sub-agent's question that has not been sent yet: it is when it is awaited, alone or in a batch."""

    def __init__(self, request):
        self.request, self._running = request, None

    def _start(self):
        if self._running is None:
            self._running = channel.call("llm_query", self.request)
        return self._running

    def __await__(self):
        return self._start().__await__()

    def send(self, value):
        return self._start().send(value)

    def throw(self, *error):
        return self._start().throw(*error)

    def close(self):
        if self._running is not None:
            self._running.close()

    def __repr__(self):
        return "<llm_query(...) that was not awaited: write `await llm_query(...)`>"

    def __reduce__(self):
        raise TypeError("an llm_query() that was not awaited cannot be saved")


def _refuse_in_leaf(name):
    if role == LEAF:
        raise RuntimeError(f"{name}() is not available at this depth: answer from the context yourself")


def llm_query(context, schema=None, *, tools=None, mcp=None, instruction=None):
    """Hands `context` (any value) to a sub-agent; await the call for its answer. Several at once: batch_llm_query."""
    _refuse_in_leaf("llm_query")
    request = {
        "context": context,
        "schema": schema,
        "tools": _granted(tools),
        "mcp": _granted(mcp),
        "instruction": None if instruction is None else str(instruction),
    }
    return Query(encode(request)[0])


async def _batch(queries):
    return await channel.call("batch_llm_query", {"queries": [query.request for query in queries]})


def batch_llm_query(*queries):
    """Runs several `llm_query(...)` calls in parallel; await it for the list of their answers, in order."""
    _refuse_in_leaf("batch_llm_query")
    if len(queries) == 1 and isinstance(queries[0], (list, tuple)) and _all_queries(queries[0]):
        queries = queries[0]
    return _batch([query if isinstance(query, Query) else llm_query(query) for query in queries])


def _all_queries(items):
    return bool(items) and all(isinstance(item, Query) for item in items)


_gather = asyncio.gather


def gather(*awaitables, return_exceptions=False):
    if any(isinstance(_coroutine(item), Query) for item in awaitables):
        for item in awaitables:
            if isinstance(item, asyncio.Task):
                item.cancel()  # it would still start at the next await
            elif asyncio.iscoroutine(item):
                item.close()
        raise RuntimeError(
            "asyncio.gather() over llm_query() calls is refused: use `await batch_llm_query(llm_query(...), ...)`, "
            "which runs them in parallel and returns the answers in order"
        )
    return _gather(*awaitables, return_exceptions=return_exceptions)


def _coroutine(item):
    return item.get_coro() if isinstance(item, asyncio.Task) else item


gather.__doc__ = _gather.__doc__
asyncio.gather = asyncio.tasks.gather = gather


def _parameters(name, parameters, required, args, kwargs):
    if len(args) > len(parameters):
        raise TypeError(f"{name}() takes {len(parameters)} arguments, {len(args)} were given")
    given = dict(zip(parameters, args))
    for key, value in kwargs.items():
        if key not in parameters or key in given:
            raise TypeError(f"{name}() got an unexpected argument {key!r}")
        given[key] = value
    missing = [key for key in parameters[:required] if key not in given]
    if missing:
        raise TypeError(f"{name}() needs {', '.join(missing)}")
    return given


class Entries(list):
    """A list that can be awaited, too: functions of earlier sessions use a listing as it is, others await it."""

    __hash__ = object.__hash__  # asyncio.gather() looks up what it is given

    def __await__(self):
        return list(self)
        yield

    def __reduce__(self):
        return list, (list(self),)  # it is saved as what it is


def _listing(name):
    def entries(*args, **kwargs):
        given = _parameters(name, ("server",), 0, args, kwargs)
        return Entries(channel.ask(name, encode(given)[0]))

    entries.__name__ = entries.__qualname__ = name
    return entries


class Schema(dict):
    """A parameter schema that can be awaited, too: as listings can."""

    def __await__(self):
        return dict(self)
        yield

    def __reduce__(self):
        return dict, (dict(self),)


def _schema_by_name(name):
    """As earlier sessions ask: the schema of the parameters, of `server.tool` or of a tool that only one server has."""
    if not isinstance(name, str):
        raise TypeError("mcp_tool_schema() needs server and tool, or one name: 'server.tool'")
    known = [(entry["server"], entry["name"]) for entry in channel.ask("mcp_list_tools", {}) if "name" in entry]
    found = [both for both in known if ".".join(both) == name] or [both for both in known if both[1] == name]
    if len(found) != 1:
        which = "several servers have" if found else "there is no"
        raise ValueError(f"{which} MCP tool {name!r}: name it as 'server.tool', or by server and tool")
    server, tool = found[0]
    return Schema(channel.ask("mcp_tool_schema", {"server": server, "tool": tool}).get("inputSchema") or {})


def mcp_tool_schema(*args, **kwargs):
    """The tool as its server describes it; await it. With the one name 'server.tool', the schema of its parameters."""
    if len(args) + len(kwargs) == 1 and (args or "name" in kwargs):
        return _schema_by_name(*args, **kwargs)
    given = _parameters("mcp_tool_schema", ("server", "tool"), 2, args, kwargs)
    return channel.call("mcp_tool_schema", encode(given)[0])


async def mcp_call(*args, **kwargs):
    """Calls a tool; await it. Its arguments are a dict, or keyword arguments."""
    # Arguments by keyword, as earlier sessions have them; `arguments` alone is the dict of all.
    own = {key: kwargs.pop(key) for key in list(kwargs) if key not in ("server", "tool", "arguments")}
    if own and "arguments" in kwargs:
        own["arguments"] = kwargs.pop("arguments")
    given = _parameters("mcp_call", ("server", "tool", "arguments"), 2, args, kwargs)
    if own:
        before = given.get("arguments") or {}
        if not isinstance(before, dict):
            raise TypeError("arguments is a dict, by the tool's parameters")
        given["arguments"] = {**before, **own}
    return await channel.call("mcp_call", encode(given)[0])


def _is_uri(value):
    return isinstance(value, str) and re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", value) is not None


async def mcp_read_resource(*args, **kwargs):
    """Reads a resource; await it. The server may be left out where only one has it, or stand behind the address."""
    if len(args) == 1 and "uri" not in kwargs:
        args, kwargs = (), {**kwargs, "uri": args[0]}
    elif len(args) == 2 and _is_uri(args[0]) and not _is_uri(args[1]):
        args = (args[1], args[0])
    given = _parameters("mcp_read_resource", ("server", "uri"), 0, args, kwargs)
    if "uri" not in given:
        raise TypeError("mcp_read_resource() needs uri")
    return await channel.call("mcp_read_resource", encode(given)[0])


#: The functions for MCP servers, bound where servers are configured.
MCP = {
    function.__name__: function
    for function in (
        _listing("mcp_list_tools"),
        mcp_tool_schema,
        mcp_call,
        _listing("mcp_list_resources"),
        _listing("mcp_list_resource_templates"),
        mcp_read_resource,
    )
}

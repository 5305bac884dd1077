"""The session: one call of `serve` runs as long as the session, and carries out the host's commands one by one."""

import asyncio
import codecs
import datetime
import json
import os
import random
import sys

from _rlm import api, channel, encode, guard, intact, loop, output, preview, restore, source, steps, sweep, tools, traces
from _rlm.names import names, space

_MODULE = {"__name__": "__main__", "__doc__": None, "__annotations__": {}}


def _context(kind):
    """Reads the context, piece by piece where it is text."""
    if kind == "nothing":
        return None
    if kind == "text":
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        parts = [decoder.decode(piece) for piece in channel.blob("context")]
        return "".join(parts) + decoder.decode(b"", True)
    text = b"".join(channel.blob("context")).decode("utf-8", "replace")
    if kind == "json":
        return json.loads(text)
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def _bind_engine(command):
    functions = [api.FINAL, api.llm_query, api.batch_llm_query, api.commit, api.ask]
    names.engine.update((function.__name__, function) for function in functions)
    if command["mcp"]:
        names.engine.update(api.MCP)
    space.update(names.engine)


def _start(command):
    """Makes a session of a fresh instance."""
    random.seed()  # the snapshot froze the generator: all sessions would draw the same numbers
    os.environ.clear()
    os.environ.update(command["env"])
    api.role = command["role"]
    space.update(_MODULE)
    names.reserve()
    _bind_engine(command)
    listing, errors = tools.load(command["tools"], command["host_tools"])
    names.reserved.add("context")
    space["context"] = _context(command["context"])
    return {"tools": listing, "tool_errors": errors, "restored": restore.run(command["restore"])}


async def _control():
    """Waits for the host's wish to cancel the running step."""
    while True:
        steps.cancel(await channel.call("_control", {}))


async def _carry_out(command):
    kind = command["command"]
    if kind == "step":
        return await steps.run(command)
    guard.restore()
    try:
        return sweep.run(command) if kind == "sweep" else _start(command)
    finally:
        guard.restore()


async def serve():
    sys.settrace(None)
    loop.enter()
    output.install()
    steps.hide(asyncio.current_task())
    control = asyncio.create_task(_control())
    steps.hide(control)
    while True:
        command = await channel.call("_next", {})
        try:
            reply = await _carry_out(command)
        except BaseException as error:
            guard.restore()
            reply = {"broken": f"{type(error).__name__}: {error}"}
        channel.send_json(channel.DONE, {"number": command["number"], "reply": reply})


def _warm_up():
    """Runs what sessions will need once, before the snapshot: much of the library imports and caches at first use."""
    source.Bindings(source.parse("import re  # a comment\nx = asyncio.run(f())", "<warm up>"), "import re  # a comment")
    for code in ("1 / 0", "no_such_name", "(", "f('é')['x']", "import no_such_module"):
        try:
            exec(code, {"f": dict})
        except Exception as error:
            traces.describe(error)
    encode.to_json({"when": datetime.datetime(2024, 1, 1), "set": {1}})
    preview.preview([{"a": 1}])


guard.keep()
_warm_up()
intact.keep()

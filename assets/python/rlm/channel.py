"""The guest's end of the wire to its host. What the messages mean is left to the other modules.

Four ways, all provided by the runtime's module `_eryx`:

* `emit`: fire and forget, for printed text and for waking a call;
* `call`: an awaited host call; many can be in flight;
* `send` and `ask`: messages in bytes that block the whole interpreter until the host has taken or answered them. They
  travel through the runtime's TLS imports, which nothing else uses because the sandbox has no network;
* `blob`: a stream of bytes that the host serves (the context, a pickle).
"""

import asyncio
import itertools

import _eryx
import _eryx_async

from _rlm.answers import dumps, failure, loads, outcome

# Streams of `emit`.
STDOUT, STDERR, WAKE = 0, 1, 2
# Kinds of messages of `send`; the host's list is in wire.rs.
REQUEST, DONE, FINAL, NOTE, VALUE = 1, 2, 3, 4, 5
# What is read: the reply to the last request, the next piece of the blob asked for.
REPLY, BLOB = 1, 2
_WHOLE = 0xFFFFFFFF
_PIECE = 4 << 20

_emit = _eryx._eryx_report_output
_invoke = _eryx._eryx_invoke_async
_write = _eryx._eryx_tls_write
_read = _eryx._eryx_tls_read
_new_set = _eryx.waitable_set_new_
_join = _eryx.waitable_join_
_result = _eryx.promise_get_result_
_ids = itertools.count(1)


def emit(stream, text):
    _emit(stream, text)


async def call(name, arguments):
    """A host call. It returns without suspending if the host's answer is there at once."""
    number = next(_ids)
    kind, value = _invoke(name, dumps({"id": number, "args": arguments}))
    if kind == 0:
        return loads(value)
    if kind == 1:
        raise failure(value)
    handle = value[0]
    state = _eryx_async._async_state.get()
    future = state.futures[handle] = _eryx_async._loop.create_future()
    if state.waitable_set is None:
        state.waitable_set = _new_set()
    _join(handle, state.waitable_set)
    try:
        await future
    except asyncio.CancelledError:
        if handle in state.futures:
            # The runtime will still resolve it; and nobody needs the answer any more.
            state.futures[handle] = _eryx_async._loop.create_future()
            _emit(WAKE, str(number))
        raise
    return outcome(loads(_result(handle)))


def send(kind, data):
    """Hands a message over; waits while the host has too many of them."""
    status, value = _write(kind, data)
    if status != 0:
        raise RuntimeError(value)


def send_json(kind, value):
    send(kind, dumps(value).encode())


def ask(name, arguments):
    """A host call that blocks the interpreter: for functions that are not awaited."""
    send_json(REQUEST, {"name": name, "args": arguments})
    status, reply = _read(REPLY, _WHOLE)
    if status != 0:
        raise RuntimeError(reply)
    return outcome(loads(reply.decode()))


def blob(name):
    """The pieces of a stream of bytes that the host has."""
    ask("blob", {"name": name})
    while True:
        status, piece = _read(BLOB, _PIECE)
        if status != 0:
            raise RuntimeError(piece)
        if not piece:
            return
        yield piece

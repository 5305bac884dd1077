"""The worker's end of the wire to its host, with the functions that `rlm/channel.py` has in the sandbox.

Frames over two pipes: a byte for the kind, four for the length, then the payload. One thread takes what the host sends,
so that calls are answered while the main thread computes, and from threads of the user's own.
"""

import _thread
import asyncio
import itertools
import os
import signal
import struct
import threading

from _rlm.answers import dumps, loads, outcome
from _rlm.preview import Interrupt

# Streams of `emit`.
STDOUT, STDERR = 0, 1
# Kinds of `send`, as in the sandbox; and those that have other ways there.
REQUEST, DONE, FINAL, NOTE, VALUE, CALL, PRINTED, DROPPED, IDLE, READ = range(1, 11)
# What the host sends.
_COMMAND, _ANSWER, _REPLY, _CANCEL, _BYTES = range(1, 6)
_PIECE = 4 << 20

_ids = itertools.count(1)
_get_ident, _os_write, _os_read = _thread.get_ident, os.write, os.read
_main = _get_ident()
_header = struct.Struct("<BI")


class _Wire:
    def __init__(self):
        self.input = self.output = self.loop = None
        self.lock = threading.Lock()
        # Calls that are awaited, and those that block a thread.
        self.awaited, self.blocking = {}, {}
        self.commands, self.cancels = None, None
        # The command that is to be cancelled.
        self.cancelled = 0
        # The main thread is in the middle of a frame, and was interrupted there.
        self.writing, self.interrupted = False, False


wire = _Wire()


def open_wire(loop):
    """Takes the pipes away from the standard streams, and starts to listen."""
    wire.input, wire.output, wire.loop = os.dup(0), os.dup(1), loop
    null = os.open("/dev/null", os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    wire.commands, wire.cancels = asyncio.Queue(), asyncio.Queue()
    # A stack counts as memory.
    usual = threading.stack_size(256 << 10)
    threading.Thread(target=_listen, name="rlm-wire", daemon=True).start()
    threading.stack_size(usual)


def _frame(kind, data):
    main = _get_ident() == _main
    with wire.lock:
        wire.writing = main
        rest = memoryview(_header.pack(kind, len(data)) + data)
        while rest:
            rest = rest[_os_write(wire.output, rest) :]
        wire.writing = False
    if main and wire.interrupted:
        wire.interrupted = False
        raise Interrupt


def interrupt_later():
    """Whether an interrupt has to wait until a frame is whole."""
    if wire.writing:
        wire.interrupted = True
    return wire.writing


def _read(size):
    parts = []
    while size:
        piece = _os_read(wire.input, min(size, _PIECE))
        if not piece:
            os._exit(0)  # the host is gone
        parts.append(piece)
        size -= len(piece)
    return b"".join(parts)


def _listen():
    soon = wire.loop.call_soon_threadsafe
    while True:
        kind, size = _header.unpack(_read(_header.size))
        data = _read(size)
        if kind == _COMMAND:
            soon(wire.commands.put_nowait, data)
        elif kind == _CANCEL:
            wire.cancelled = int(data)
            soon(wire.cancels.put_nowait, wire.cancelled)
            signal.pthread_kill(_main, signal.SIGINT)
        elif kind == _ANSWER:
            answer = loads(data.decode())
            soon(_answered, answer)
        else:
            number, reply = struct.unpack_from("<Q", data)[0], data[8:]
            waiting = wire.blocking.pop(number, None)
            if waiting is not None:
                waiting.append(reply)
                waiting[0].release()


def _answered(answer):
    future = wire.awaited.pop(answer["id"], None)
    if future is not None and not future.done():
        future.set_result(answer)


def emit(stream, text):
    _frame(PRINTED, text.encode())


async def call(name, arguments):
    """A host call, awaited; many can be in flight."""
    if name == "_next":
        return loads((await wire.commands.get()).decode())
    if name == "_control":
        return await wire.cancels.get()
    number = next(_ids)
    future = wire.awaited[number] = wire.loop.create_future()
    _frame(CALL, dumps({"id": number, "name": name, "args": arguments}).encode())
    try:
        return outcome(await future)
    except asyncio.CancelledError:
        if wire.awaited.pop(number, None) is not None:
            _frame(DROPPED, str(number).encode())
        raise


def idle(waits):
    """Tells that the worker only waits for calls now, or does not any more. Without calls that is no news."""
    if wire.awaited:
        _frame(IDLE, b"1" if waits else b"0")
    return bool(wire.awaited)


def send(kind, data):
    """Hands a message over; waits while the host has too many of them."""
    _frame(kind, data)


def send_json(kind, value):
    send(kind, dumps(value).encode())


def _wait(kind, number, data):
    """A frame, and the host's reply to it, which blocks this thread."""
    lock = threading.Lock()
    lock.acquire()
    waiting = wire.blocking[number] = [lock]
    try:
        _frame(kind, data)
        lock.acquire()
    finally:
        wire.blocking.pop(number, None)
    return waiting[1]


def ask(name, arguments):
    """A host call that blocks the thread: for functions that are not awaited."""
    number = next(_ids)
    request = {"id": number, "name": name, "args": arguments}
    return outcome(loads(_wait(REQUEST, number, dumps(request).encode()).decode()))


def blob(name):
    """The pieces of a stream of bytes that the host has."""
    ask("blob", {"name": name})
    while True:
        number = next(_ids)
        piece = _wait(READ, number, struct.pack("<QI", number, _PIECE))
        if not piece:
            return
        yield piece

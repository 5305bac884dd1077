"""The event loop of a worker: Python's own, which tells the host when it only waits, and what an interrupt does."""

import asyncio
import selectors
import signal

from _rlm import channel
from _rlm.preview import Interrupt

_USERS = ("<step ", "<restored ")


class _Selector(selectors.DefaultSelector):
    def select(self, timeout=None):
        if timeout is not None and timeout <= 0 or not channel.idle(True):
            return super().select(timeout)
        try:
            return super().select(timeout)
        finally:
            channel.idle(False)


def _asyncio_run(main, **options):
    if asyncio.iscoroutine(main):
        main.close()
    raise RuntimeError(
        "the event loop is running already: asyncio.run() works only at the top level of a step; "
        "make the function `async def` and `await` the coroutine"
    )


def _interrupt(number, frame):
    """Ends the step that is to be cancelled where it computes or blocks; where it awaits, its task is cancelled."""
    from _rlm import steps

    if steps._current is None or steps._number != channel.wire.cancelled:
        return
    while frame is not None and not frame.f_code.co_filename.startswith(_USERS):
        frame = frame.f_back
    if frame is not None and not channel.interrupt_later():
        raise Interrupt


def enter():
    signal.signal(signal.SIGINT, _interrupt)


def new_loop():
    loop = asyncio.SelectorEventLoop(_Selector())
    asyncio.set_event_loop(loop)
    asyncio.run = _asyncio_run
    return loop


def serve(kernel, loop):
    """Serves until the host is gone."""
    task = loop.create_task(kernel.serve())
    while not task.done():
        try:
            loop.run_until_complete(task)
        except (SystemExit, KeyboardInterrupt):
            # Of another task: it holds it for whoever awaits it.
            continue

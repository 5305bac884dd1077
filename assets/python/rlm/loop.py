"""Makes the runtime's minimal event loop a usable one: timers, executors, errors that do not end the interpreter."""

import asyncio
import contextvars
import sys
import time

import _eryx_async

from _rlm import channel

_now = time.monotonic
_copy_context = contextvars.copy_context
# The state of the one `execute` call that serves the whole session.
_state = None
# Timer tasks: they outlive the step that made them only until its end.
timers = set()


class _Timer(asyncio.TimerHandle):
    __slots__ = ("_task",)

    def cancel(self):
        if not self._cancelled:
            self._task.cancel()
        super().cancel()


def enter():
    """To be called once, inside the serving call."""
    global _state
    _state = _eryx_async._async_state.get()


def _poll(self, state):
    while True:
        handles, state.handles = state.handles, []
        for handle in handles:
            if not handle._cancelled:
                try:
                    handle._run()
                except BaseException:
                    # SystemExit and KeyboardInterrupt of a task: the task holds it for whoever awaits it.
                    pass
        if not handles and not state.handles:
            return


def _call_soon(self, callback, *args, context=None):
    context = context if context is not None else _copy_context()
    handle = asyncio.Handle(callback, args, self, context)
    # The serving call itself is scheduled before `enter`.
    state = _state if _state is not None else context[_eryx_async._async_state]
    state.handles.append(handle)
    return handle


def _call_at(self, when, callback, *args, context=None):
    context = context if context is not None else _copy_context()
    timer = _Timer(when, callback, args, self, context)

    async def wait():
        await channel.call("_sleep", {"seconds": max(0.0, when - _now())})
        if not timer._cancelled:
            _state.handles.append(timer)

    timer._task = asyncio.Task(wait(), loop=self, context=_copy_context())
    timers.add(timer._task)
    timer._task.add_done_callback(timers.discard)
    return timer


def _call_later(self, delay, callback, *args, context=None):
    return self.call_at(_now() + delay, callback, *args, context=context)


def _create_task(self, coroutine, **options):
    return asyncio.Task(coroutine, loop=self, **options)


def _run_in_executor(self, executor, function, *args):
    """There are no threads: the function runs now."""
    future = self.create_future()
    try:
        future.set_result(function(*args))
    except Exception as error:
        future.set_exception(error)
    return future


def _exception_handler(self, details):
    error = details.get("exception")
    text = f"asyncio: {details.get('message')}"
    if error is not None:
        text += f": {type(error).__name__}: {error}"
    print(text, file=sys.stderr)


def _asyncio_run(main, **options):
    if asyncio.iscoroutine(main):
        main.close()
    raise RuntimeError(
        "the event loop is running already: asyncio.run() works only at the top level of a step; "
        "make the function `async def` and `await` the coroutine"
    )


def _sleep(seconds):
    """`time.sleep` through the host, so that a cancel can end it and keep the state."""
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    channel.ask("sleep", {"seconds": float(seconds)})


def install():
    """Patches the loop's class, once, before the snapshot."""
    kind = type(_eryx_async._loop)
    kind.poll = _poll
    kind.time = lambda self: _now()
    kind.call_soon = kind.call_soon_threadsafe = _call_soon
    kind.call_at = _call_at
    kind.call_later = _call_later
    kind.create_task = _create_task
    kind.run_in_executor = _run_in_executor
    kind._timer_handle_cancelled = lambda self, handle: None
    kind.call_exception_handler = _exception_handler
    kind.get_exception_handler = lambda self: None
    kind.set_debug = lambda self, enabled: None
    asyncio.run = _asyncio_run
    time.sleep = _sleep


install()

"""Runs one step: compiles it, runs it in the namespace, and tells what came of it."""

import ast
import asyncio
import inspect
import linecache
import os
import random

from _rlm import channel, guard, loop, output
from _rlm.names import names, space
from _rlm.source import Bindings, parse
from _rlm.traces import describe

# The running step's task, and the number of the command that it carries out.
_current, _number = None, None
# Bound here, because user code may replace them.
_all_tasks, _create_task, _sleep = asyncio.all_tasks, asyncio.create_task, asyncio.sleep
_hide_task = asyncio.tasks._unregister_task


def hide(task):
    """Takes a task that outlives the steps out of `asyncio.all_tasks()`: code that cancels them all is common."""
    _hide_task(task)


def cancel(number):
    """Cancels the step of that command, if it is still running: it stops where it awaits."""
    if _current is not None and _number == number:
        _current.cancel()


def _seed(seed):
    """Makes all of Python's sources of randomness repeatable."""
    random.seed(seed)
    draw = random.Random(seed ^ 0x5DEECE66D).randbytes
    # `secrets`, `uuid4` and `SystemRandom` draw from these two.
    os.urandom = random._urandom = draw


async def _execute(source, file):
    """Returns (bindings or None, traceback or None)."""
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    try:
        tree = parse(source, file)
        bindings = Bindings(tree, source)
        code = compile(tree, file, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except BaseException as error:
        return None, describe(error, of_source=True)
    try:
        result = eval(code, space)
        if code.co_flags & inspect.CO_COROUTINE:
            await result
    except BaseException as error:
        guard.restore()
        return bindings, describe(error)
    # Before anything of the loop runs: a step may have left it too low a limit of recursion.
    guard.restore()
    return bindings, None


async def _drop_tasks():
    """Cancels what the step left running."""
    for _ in range(2):
        left = [task for task in _all_tasks() if not task.done()]
        if not left:
            return
        for task in left:
            task.cancel()
        await _sleep(0)


async def run(command):
    """One step. Returns what the host is told of it."""
    global _current, _number
    guard.restore()
    for name, aside in names.pin():
        output.print_values(f"note: `{name}` is the REPL's own name and was put back; your value is in `{aside}`")
    if command["seed"] is not None:
        _seed(command["seed"])
    output.begin(command["flood"])
    before = names.before()
    _number = command["number"]
    _current = _create_task(_execute(command["code"], f"<step {command['step']}>"))
    try:
        bindings, error = await _current
    except asyncio.CancelledError:  # before it began
        bindings, error = None, "CancelledError\n"
    finally:
        guard.restore()
        _current = None
    written, deleted, imports = names.after(before, bindings, error is not None)
    await _drop_tasks()
    guard.restore()
    return {"error": error, "written": written, "deleted": deleted, "imports": imports}

"""Puts back what user code may have broken and the kernel or the next step needs: builtins, streams, limits."""

import builtins
import sys

from _rlm import output

_space = builtins.__dict__
_main = sys.modules["__main__"].__dict__
_kept, _runtime = {}, {}
_recursion = sys.getrecursionlimit()


def _input(prompt=""):
    raise EOFError("there is no standard input in the REPL; a root agent can `await ask(question)`")


def keep():
    """Remembers the builtins as they are now, ours in place."""
    _space["print"] = output.print_values
    _space["input"] = _input
    _kept.update(_space)
    # The runtime's own names, in the namespace that steps run in.
    _runtime.update((name, value) for name, value in _main.items() if name.startswith("_"))


def restore():
    """To be called before the kernel does anything after user code: it must not use a builtin itself. Returns whether
    any was changed."""
    changed = _space != _kept
    if changed:
        _space.clear()
        _space.update(_kept)
    _main["__builtins__"] = builtins
    if not _runtime.keys() <= _main.keys():
        _main.update({name: value for name, value in _runtime.items() if name not in _main})
    _set_recursion_limit(_recursion)
    output.install()
    return changed


_set_recursion_limit = sys.setrecursionlimit

"""Whether code that came with a saved state has left the kernel as it was: its session must not find out in its next step.

What the kernel defines is compared one by one, and so is what it uses of the library; what else there may be shows when
the kernel is tried. All of it takes about a millisecond.
"""

import asyncio
import sys
import types

from _rlm import encode, preview, source, sweep, traces
from _rlm.names import space

_OURS = "_rlm"
_FUNCTION, _MODULE = types.FunctionType, types.ModuleType
_KINDS = (_FUNCTION, types.BuiltinFunctionType, types.MethodType, type, _MODULE)
# (where, a namespace, what is to be in it): of the kernel, and of the library.
_own, _library = [], []
# The kernel's functions, with their code.
_codes = []


class Damaged(RuntimeError):
    """What is not its own was changed."""


def _definitions(where, namespace):
    defined = [(name, value) for name, value in namespace.items() if isinstance(value, _KINDS)]
    return where, namespace, defined


def _is_of(name, packages):
    return name.partition(".")[0] in packages


def keep():
    """Remembers the kernel as it is now."""
    modules = [(name, module) for name, module in sys.modules.items() if name.startswith(_OURS + ".")]
    _own.extend(_definitions(name, module.__dict__) for name, module in modules)
    values = [value for _, _, defined in _own for _, value in defined]
    classes = [value for value in values if type(value) is type and _is_of(value.__module__, (_OURS,))]
    _own.extend(_definitions(kind.__qualname__, kind.__dict__) for kind in dict.fromkeys(classes))
    functions = [value for _, _, defined in _own for _, value in defined if type(value) is _FUNCTION]
    _codes.extend((function, function.__code__) for function in functions if _is_of(function.__module__, (_OURS,)))


def look():
    """Remembers what the kernel uses of the library, as it is now."""
    values = [value for _, _, defined in _own for _, value in defined]
    used = {value.__name__.partition(".")[0] for value in values if type(value) is _MODULE}
    modules = [(name, module) for name, module in sys.modules.items() if type(module) is _MODULE and _is_of(name, used)]
    loops = type(asyncio.get_running_loop()).__mro__
    _library[:] = [_definitions(name, module.__dict__) for name, module in modules if name != "__main__"]
    _library.extend(_definitions(kind.__qualname__, kind.__dict__) for kind in loops if kind is not object)
    _library.append(("sys.modules", sys.modules, [*modules, ("__main__", sys.modules["__main__"])]))


def check(bound):
    """Raises where anything is not what it was; `bound` are names that were bound and have to be there."""
    for where, namespace, defined in (*_own, *_library):
        for name, value in defined:
            if namespace.get(name) is not value:
                raise Damaged(f"it changes {where}.{name}")
    for function, code in _codes:
        if function.__code__ is not code:
            raise Damaged(f"it changes {function.__module__}.{function.__qualname__}")
    if sys.modules["__main__"].__dict__ is not space or sys.gettrace() or sys.getprofile():
        raise Damaged("it changes how code runs")
    gone = [name for name in bound if name not in space]
    if gone:
        raise Damaged(f"it removes {gone[0]}")
    _try()


def _try():
    """Does what a step does, as far as nothing of it remains."""
    code = "[n for n in range(3)]  # a comment"
    tree = source.parse(code, "<check>")
    source.Bindings(tree, code)
    value = eval(compile(code, "<check>", "eval", dont_inherit=True), {})
    shown = encode.to_json(value), preview.preview(value), sweep.pickled(value, 1_000)[1]
    told = traces.describe(ValueError("told"))
    if value != [0, 1, 2] or shown != (("[0,1,2]", False), "[0, 1, 2]", None) or "ValueError: told" not in told:
        raise Damaged("it changes how code runs")

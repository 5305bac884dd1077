# Loads the files of `rlm/` as the package `_rlm` while the interpreter is prepared: they become part of the snapshot,
# so that a session starts with everything defined. The host appends a call of `boot` with the sources, in the order
# in which they import each other.
import sys
import types

sys.settrace(None)


def boot(sources):
    package = types.ModuleType("_rlm", "The engine's side of the REPL.")
    package.__path__ = []
    sys.modules["_rlm"] = package
    for name, source in sources:
        module = types.ModuleType("_rlm." + name)
        module.__package__ = "_rlm"
        sys.modules[module.__name__] = module
        setattr(package, name, module)
        # The marker in the file name lets tracebacks leave our frames out.
        exec(compile(source, "<rlm " + name + ">", "exec"), module.__dict__)
    # What pickles of 3.13 call it.
    sys.modules.setdefault("pathlib._local", sys.modules["pathlib"])
    # What the runtime left in the namespace that steps run in, its own names (`_eryx...`) excepted.
    main = sys.modules["__main__"].__dict__
    for name in [name for name in main if not name.startswith("_")]:
        del main[name]

"""The namespace that steps run in, and what is known of each name in it."""

import sys
import types

from _rlm.source import Bindings

#: The namespace: `__main__`'s, so that classes defined in steps can be pickled.
space = sys.modules["__main__"].__dict__

#: A longer name is none that anybody reads: it is not saved.
LONGEST = 10_000


def is_a(value, kinds):
    """As `isinstance`, but no code of the value runs: its `__class__` may be a property that raises."""
    return issubclass(type(value), kinds)


class Names:
    """What a session knows of its names beyond their values."""

    def __init__(self):
        self.engine = {}  # the engine's own names -> their objects, put back before every step
        self.reserved = set()  # names that are never saved
        self.strong, self.transient = set(), set()
        self.definitions = {}  # name -> (source, object)
        self.imports = {}  # statement -> bound name or None
        self.comments, self.notes = {}, {}
        self.committed = set()

    def reserve(self):
        """Everything that is bound now is the engine's."""
        self.reserved.update(space)

    def is_own(self, name):
        return name in self.engine or name in self.reserved or name.startswith("_")

    def pin(self):
        """Puts the engine's names back; what user code bound there moves to `<name>_saved`. Returns those moves."""
        moved = []
        for name, value in self.engine.items():
            current = space.get(name, value)
            if name not in space or current is not value:
                space[name] = value
            if current is not value:
                moved.append((name, self.save_aside(name, current)))
        return moved

    def save_aside(self, name, value):
        """Binds the value to `<name>_saved`, or the first free name after it."""
        free, count = f"{name}_saved", 1
        while free in space:
            count += 1
            free = f"{name}_saved_{count}"
        space[free] = value
        self.strong.add(free)
        return free

    def is_memory(self, name):
        """Whether a bound name is the user's: not the engine's, not only a loop variable or an import."""
        if len(name) > LONGEST:
            return False
        if name in self.committed:
            return True
        if self.is_own(name) or is_a(space[name], types.ModuleType):
            return False
        return name in self.strong or name not in self.transient

    def too_long(self):
        """Names that are the user's and cannot be saved."""
        return [name for name in space if type(name) is str and len(name) > LONGEST and not self.is_own(name)]

    def before(self):
        return {name: id(value) for name, value in space.items()}

    def after(self, before, bindings, failed):
        """Takes note of what a step did. Returns (written, deleted, import statements)."""
        _drop_other_keys()
        changed = {name for name, value in space.items() if before.get(name) != id(value)}
        if bindings is None:
            bindings = _NOTHING
        # Of a failed step's statements it is not known which ran: only a new value tells.
        bound = lambda name: name in space and (not failed or name in changed)
        self._take_definitions(bindings, bound)
        self._take_comments(bindings, bound)
        self.transient |= bindings.transient
        if not failed:
            self.strong -= bindings.deleted
        self.strong.update(name for name in (*bindings.assigned, *bindings.defined) if bound(name))
        imports = self._take_imports(bindings, bound)
        self._forget()
        candidates = changed.union(filter(bound, (*bindings.assigned, *bindings.defined)))
        written = sorted(name for name in candidates if self.is_memory(name))
        gone = (name for name in before if name not in space and not self.is_own(name))
        deleted = sorted(name for name in gone if len(name) <= LONGEST)
        return written, deleted, imports

    def _take_definitions(self, bindings, bound):
        for name in filter(bound, bindings.assigned):
            self.definitions.pop(name, None)
            if is_a(space[name], type) and bindings.makes_class(name):
                self.definitions[name] = (bindings.definition(name), space[name])
        for name in filter(bound, bindings.defined):
            self.definitions[name] = (bindings.definition(name), space[name])

    def _take_comments(self, bindings, bound):
        for name in filter(bound, bindings.assigned):
            comment = bindings.comment(name)
            if comment:
                self.comments[name] = comment
            elif name not in bindings.augmented:
                self.comments.pop(name, None)

    def _take_imports(self, bindings, bound):
        taken = []
        for statement, name, module in bindings.imports:
            if name is None:
                self.transient.update(_public(module))
            elif name not in space:
                continue
            self.imports[statement] = name
            taken.append(statement)
        return taken

    def _forget(self):
        """What is known of names that are gone."""
        for known in (self.strong, self.transient, self.committed):
            known.intersection_update(space)
        for known in (self.definitions, self.comments, self.notes):
            for name in [name for name in known if name not in space]:
                del known[name]

    def live_imports(self):
        return [statement for statement, name in self.imports.items() if name is None or name in space]


def _drop_other_keys():
    """`globals()` takes keys that are no names: comparing names with them runs code of theirs, so they do not stay."""
    kept = [(name, value) for name, value in space.items() if type(name) is str]
    if len(kept) != len(space):
        space.clear()
        space.update(kept)


_NOTHING = Bindings.__new__(Bindings)
_NOTHING.assigned, _NOTHING.defined, _NOTHING.imports = {}, {}, []
_NOTHING.transient, _NOTHING.augmented, _NOTHING.deleted = set(), set(), set()


def _public(module):
    """The names that `from module import *` binds."""
    loaded = sys.modules.get(module)
    names = getattr(loaded, "__all__", None)
    if names is None:
        names = [name for name in vars(loaded) if not name.startswith("_")] if loaded is not None else []
    return [name for name in names if type(name) is str]


names = Names()

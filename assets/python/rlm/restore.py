"""Brings saved state back: imports, then functions and classes, then values. Each failure stays alone.

Before each item the host is told what comes: if it ends or hangs the interpreter, or breaks the kernel, the host starts
another without it. Whether the kernel is whole is looked at once, at the end; where it was not, the host starts another
that looks after each item, so that the right one is left out.
"""

import _pickle
import ast
import io
import linecache

from _rlm import channel, guard, intact, sweep
from _rlm.names import names, space
from _rlm.source import import_statements
from _rlm.traces import summary

_BaseException = BaseException


class _Unpickler(_pickle.Unpickler):
    """Notes whether a pickle names anything: one that does not runs no code."""

    names_anything = False

    def find_class(self, module, name):
        self.names_anything = True
        return super().find_class(module, name)


class _Restore:
    def __init__(self, skip, careful):
        self.skip = {(kind, name) for kind, name in skip}
        self.careful, self.harmless = careful, False
        self.failed, self.functions, self.variables, self.renamed = [], [], [], []

    def attempt(self, kind, name, action):
        """Runs the action; returns why it failed, or None. Raises where the kernel is whole no more."""
        if (kind, name) in self.skip:
            return None
        channel.send_json(channel.NOTE, {"kind": kind, "name": name})
        reason, self.harmless = None, False
        try:
            action()
        except _BaseException as error:
            guard.restore()
            reason = summary(error)
        guard.restore()
        names.pin()
        if self.careful and not self.harmless:
            self.check()
        return reason

    def check(self):
        intact.check((*self.functions, *self.variables))

    def fail(self, kind, name, reason):
        self.failed.append({"kind": kind, "name": name, "reason": reason})

    def imports(self, statements):
        for statement in dict.fromkeys(statements):
            reason = self.attempt("import", statement, lambda: _import(statement))
            if reason is not None:
                self.fail("import", statement, reason)

    def define(self, sources, last):
        """Tries the sources until no more succeed: a class may come before its base. Returns those that failed."""
        pending = sources
        while pending:
            left = []
            for name, source in pending:
                reason = self.attempt("function", name, lambda: self.function(name, source))
                if reason is not None:
                    left.append((name, source, reason))
            if len(left) == len(pending):
                break
            pending = [(name, source) for name, source, _ in left]
        else:
            left = []
        if last:
            for name, _, reason in left:
                self.fail("function", name, reason)
        return [(name, source) for name, source, _ in left]

    def function(self, name, source):
        file = f"<restored {name}>"
        linecache.cache[file] = (len(source), None, source.splitlines(True), file)
        exec(compile(source, file, "exec", dont_inherit=True), space)
        target = name
        if name in names.engine:
            target = names.save_aside(name, space[name])
            self.renamed.append([name, target])
            space[name] = names.engine[name]
        names.strong.add(target)
        names.definitions[target] = (source, space[target])
        self.functions.append(target)

    def values(self, items):
        """Returns those that failed, with the reason."""
        left = []
        for item in items:
            reason = self.attempt("variable", item["name"], lambda: self.value(item))
            if reason is not None:
                left.append((item, reason))
        return left

    def loaded(self, data):
        unpickler = _Unpickler(io.BytesIO(data))
        value = unpickler.load()
        self.harmless = not unpickler.names_anything
        if guard.restore():
            raise intact.Damaged("it changes what Python has built in")
        return value

    def value(self, item):
        name = item["name"]
        data = b"".join(channel.blob(f"variable {item['index']}"))
        value = self.loaded(data)
        if name in names.engine or name in names.reserved:
            target = names.save_aside(name, value)
            self.renamed.append([name, target])
        else:
            target = name
            space[name] = value
            names.strong.add(name)
            sweep.remember(name, value, data)
        if item["comment"] is not None:
            names.comments[target] = item["comment"]
        if item["note"] is not None:
            names.notes[target] = item["note"]
        if item["committed"]:
            names.committed.add(target)
        self.variables.append(target)


def _import(statement):
    tree = ast.parse(statement)
    if not all(isinstance(node, (ast.Import, ast.ImportFrom)) for node in tree.body):
        raise ValueError("not an import statement")
    exec(compile(tree, "<restored imports>", "exec", dont_inherit=True), space)
    for node in tree.body:
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            names.imports[statement] = None if name == "*" else name
            names.transient.add(name)


def run(command):
    restore = _Restore(command["skip"], command["careful"])
    statements = list(command["imports"])
    for source in command["import_sources"]:
        statements += import_statements(source)
    restore.imports(statements)
    # What an import changes is a module's own business.
    intact.look()
    sources = [(name, source) for name, source in command["functions"]]
    undefined = restore.define(sources, last=False)
    missing = restore.values(command["variables"])
    if undefined:
        # A default or decorator may need a value, and a value a class.
        restore.define(undefined, last=True)
        missing = restore.values([item for item, _ in missing])
    for item, reason in missing:
        restore.fail("variable", item["name"], reason)
    if sources or command["variables"]:
        restore.check()
    return {
        "variables": restore.variables,
        "functions": restore.functions,
        "renamed": restore.renamed,
        "failed": restore.failed,
    }

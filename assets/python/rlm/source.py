"""What a step's source says about the names it binds: which are memory, their definitions, imports and comments."""

import ast
import io
import tokenize

_COMMENT_LIMIT = 500
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_LOOPS = (ast.For, ast.AsyncFor)
_CLASS_MAKERS = frozenset(
    ("namedtuple", "NamedTuple", "TypedDict", "Enum", "IntEnum", "StrEnum", "Flag", "IntFlag", "make_dataclass")
)


class Bindings:
    """The names that the module scope of one step binds, each with the last node that does."""

    def __init__(self, tree, source):
        self.assigned = {}  # name -> statement, or the walrus expression
        self.transient = set()  # loop variables, `with ... as`, `except ... as`, imported names
        self.defined = {}  # name -> function or class node
        self.imports = []  # (statement, bound name or None for `*`, module)
        self.augmented = set()  # names that only an augmented assignment touched
        self.deleted = set()
        self._lines = source.splitlines(keepends=True)
        self._walk(tree)
        self._comments = _comments(source) if "#" in source else {}
        self._last = {node.end_lineno: node for node in sorted(self.assigned.values(), key=_position)}

    def _walk(self, tree):
        # With a stack of its own: the nesting of model-written code is not bounded by Python's recursion limit.
        stack = [tree]
        while stack:
            node = stack.pop()
            if isinstance(node, _FUNCTIONS):
                self.defined[node.name] = node
                self.assigned.pop(node.name, None)
                stack.extend(reversed(node.decorator_list))
                continue
            if isinstance(node, ast.Lambda):
                continue
            self._bind(node)
            stack.extend(reversed(list(ast.iter_child_nodes(node))))

    def _bind(self, node):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._assign(_names(target), node)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self._assign(_names(node.target), node)
        elif isinstance(node, ast.AugAssign):
            names = _names(node.target)
            self.augmented.update(name for name in names if name not in self.assigned)
            self._assign(names, node)
        elif isinstance(node, ast.NamedExpr):
            self._assign(_names(node.target), node)
        elif isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name:
            self._assign([node.name], node)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            self._assign([node.rest], node)
        elif isinstance(node, _LOOPS):
            self.transient.update(_names(node.target))
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            self.transient.update(_names(node.optional_vars))
        elif isinstance(node, ast.ExceptHandler) and node.name:
            self.transient.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            self._import(node)
        elif isinstance(node, ast.Delete):
            for name in [name for target in node.targets for name in _names(target)]:
                self.assigned.pop(name, None)
                self.defined.pop(name, None)
                self.deleted.add(name)

    def _assign(self, names, node):
        for name in names:
            self.assigned[name] = node
            self.defined.pop(name, None)
            if not isinstance(node, ast.AugAssign):
                self.augmented.discard(name)

    def _import(self, node):
        for alias in node.names:
            if isinstance(node, ast.Import):
                single, name = ast.Import([alias]), alias.asname or alias.name.partition(".")[0]
            else:
                single, name = ast.ImportFrom(node.module, [alias], node.level), alias.asname or alias.name
            if name == "*":
                name = None
            else:
                self.transient.add(name)
            self.imports.append((ast.unparse(single), name, getattr(node, "module", None)))

    def makes_class(self, name):
        """Whether the name's assignment calls one of the functions that make classes, with plain arguments."""
        node = self.assigned[name]
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call) or len(node.targets) != 1:
            return False
        function = node.value.func
        made_by = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", None)
        arguments = [*node.value.args, *(keyword.value for keyword in node.value.keywords)]
        inner = [inner for argument in arguments for inner in ast.walk(argument)]
        return made_by in _CLASS_MAKERS and not any(isinstance(item, (ast.Call, ast.Await)) for item in inner)

    def definition(self, name):
        """Source of the function or class, decorators included, moved to the left margin."""
        node = self.defined.get(name) or self.assigned[name]
        decorators = getattr(node, "decorator_list", ())
        first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
        lines, margin = self._lines[first - 1 : node.end_lineno], node.col_offset
        return "".join(line[margin:] if line[:margin].isspace() else line for line in lines).rstrip("\n")

    def comment(self, name):
        """The comment at the end of the assignment's line, else the block of comment lines right above it."""
        node = self.assigned[name]
        for line in (node.end_lineno, node.lineno):
            text, alone = self._comments.get(line, ("", True))
            if text and not alone and self._last.get(node.end_lineno) is node:
                return text[:_COMMENT_LIMIT]
        block, line = [], node.lineno - 1
        while self._comments.get(line, ("", False))[1]:
            block.append(self._comments[line][0])
            line -= 1
        return " ".join(text for text in reversed(block) if text)[:_COMMENT_LIMIT] or None


def _position(node):
    return node.lineno, node.col_offset


def _names(target):
    """The names in an assignment's target; `a.b = ...` and `a[0] = ...` bind none."""
    names, stack = [], [target]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Name):
            names.append(node.id)
        elif isinstance(node, (ast.Tuple, ast.List)):
            stack.extend(reversed(node.elts))
        elif isinstance(node, ast.Starred):
            stack.append(node.value)
    return names


def _comments(source):
    """Line number -> (text of its comment, whether the comment is alone on the line)."""
    found = {}
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                alone = not token.line[: token.start[1]].strip()
                found[token.start[0]] = (token.string.lstrip("#!:").strip(), alone)
    except (tokenize.TokenError, SyntaxError):
        pass
    return found


def import_statements(source):
    """The top-level import statements of a piece of code, one name each. Unparsable code has none."""
    try:
        return [statement for statement, _, _ in Bindings(ast.parse(source), source).imports]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


class _AwaitRuns(ast.NodeTransformer):
    """Turns `asyncio.run(x)` and `loop.run_until_complete(x)` at the top level into `await x`: the loop runs already."""

    def visit_FunctionDef(self, node):
        return node

    visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = visit_FunctionDef

    def visit_Call(self, node):
        self.generic_visit(node)
        function = node.func
        if not isinstance(function, ast.Attribute) or not node.args:
            return node
        is_run = function.attr == "run" and isinstance(function.value, ast.Name) and function.value.id == "asyncio"
        if is_run or function.attr == "run_until_complete":
            return ast.copy_location(ast.Await(node.args[0]), node)
        return node


def parse(source, file):
    """The step's syntax tree, with stray runs of an event loop turned into awaits."""
    tree = ast.parse(source, file)
    if "asyncio.run" in source or "run_until_complete" in source:
        tree = ast.fix_missing_locations(_AwaitRuns().visit(tree))
    return tree

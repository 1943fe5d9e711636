"""The indexer, which lists the definitions of a file in one walk over its statements."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from syncscan.check.infer.source.index import NAMED_TUPLES, Class, Function, Module, imported_names
from syncscan.check.infer.source.lines import Lines
from syncscan.check.infer.source.parameters import Parameter
from syncscan.check.infer.source.syntax import last_name
from syncscan.check.infer.source.trees import types_of
from syncscan.syntax.names import dotted_name


def index_module(name: str, path: str, tree: ast.Module, lines: Lines, *, is_package: bool) -> Module:
    """Return the module with all of its definitions."""
    module = Module(name, path, tree, lines, is_package)
    module.body = Function("<module>", "<module>", module, tree)
    module.functions.append(module.body)
    _Indexer(module).block(tree.body, module.body, None, "")
    return module


_OVERLOAD = frozenset({"typing.overload", "typing_extensions.overload"})


class _Indexer:
    """The walk over the statements of a module and of all definitions in it."""

    def __init__(self, module: Module) -> None:
        self.module = module

    def block(self, body: list[ast.stmt], function: Function, owner: Class | None, prefix: str) -> None:
        for position, statement in enumerate(body):
            body[position] = self._written_out(statement) or statement
            self.statement(body[position], function, owner, prefix)

    def _written_out(self, node: ast.stmt) -> ast.ClassDef | None:
        """Return the class that ``Pair = namedtuple("Pair", "a b")`` defines; None for other statements."""
        if (
            not isinstance(node, ast.Assign)
            or not isinstance(node.value, ast.Call)
            or len(node.value.args) < 2
        ):
            return None
        call, target = node.value, node.targets[0]
        if (
            not isinstance(target, ast.Name)
            or self.module.imported_name(dotted_name(call.func)) not in NAMED_TUPLES
        ):
            return None
        fields: list[ast.stmt] = [
            ast.AnnAssign(ast.Name(name, ast.Store()), annotation, None, 1)
            for name, annotation in _fields(call.args[1])
        ]
        made = ast.ClassDef(target.id, [call.func], [], fields or [ast.Pass()], [])
        for name in made._fields:
            if not hasattr(made, name):  # from Python 3.12 a class has type parameters
                setattr(made, name, [])
        for inner in ast.walk(made):
            ast.copy_location(inner, node)
        return made

    def statement(self, node: ast.stmt, function: Function, owner: Class | None, prefix: str) -> None:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            self.function(node, function, owner, prefix)
        elif isinstance(node, ast.ClassDef):
            self.class_(node, function, owner, prefix)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            if function.node is self.module.tree and owner is None:
                self.module.names.update(imported_names(node, self.module))
        elif owner is not None and isinstance(node, (ast.Assign, ast.AnnAssign)):
            self._note_field(node, owner)
        else:
            if owner is None:
                self._note(node, function)
            for body in blocks_of(node):
                self.block(body, function, owner, prefix)

    def _note_field(self, node: ast.Assign | ast.AnnAssign, owner: Class) -> None:
        """Record the names that a statement in the body of a class sets."""
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        owner.stored.update(names)
        if isinstance(node, ast.AnnAssign) and names and not self._is_class_variable(node.annotation):
            owner.annotations[names[0]] = node.annotation

    def function(
        self,
        node: ast.FunctionDef | ast.AsyncFunctionDef,
        parent: Function,
        owner: Class | None,
        prefix: str,
    ) -> None:
        info = Function(node.name, prefix + node.name, self.module, node, owner)
        info.parent = None if parent.node is self.module.tree else parent
        decorators = {self.module.imported_name(dotted_name(_called(each))) for each in node.decorator_list}
        info.take(parameters_of(node.args))
        self.module.functions.append(info)
        if owner is not None:
            if not decorators & _OVERLOAD and not any(
                name.endswith((".setter", ".deleter")) for name in decorators
            ):
                owner.methods[node.name] = info
        elif info.parent is not None:
            info.parent.children[node.name] = info
        elif not decorators & _OVERLOAD:
            self.module.names[node.name] = info
        self.block(node.body, info, None, f"{info.qualname}.")

    def class_(self, node: ast.ClassDef, parent: Function, owner: Class | None, prefix: str) -> None:
        info = Class(node.name, prefix + node.name, self.module, node)
        info.parent = None if parent.node is self.module.tree else parent
        self.module.classes.append(info)
        if owner is not None:
            owner.nested[node.name] = info
        elif info.parent is not None:
            info.parent.children[node.name] = info
        else:
            self.module.names[node.name] = info
        self.block(node.body, parent, info, f"{info.qualname}.")

    def _note_global(self, name: str, value: ast.expr | None) -> None:
        """Record an assignment to a module variable; the first one of another name or a type alone makes an alias."""
        is_first = name not in self.module.globals and name not in self.module.names
        self.module.globals.add(name)
        self.module.aliases.pop(name, None)
        if (
            is_first
            and value is not None
            and (isinstance(value, ast.Subscript) or dotted_name(_called(value)))
        ):
            self.module.aliases[name] = value

    def _is_class_variable(self, annotation: ast.expr) -> bool:
        base = annotation.value if isinstance(annotation, ast.Subscript) else annotation
        return self.module.imported_name(dotted_name(base)).rpartition(".")[2] == "ClassVar"

    def _note(self, node: ast.stmt, function: Function) -> None:
        """Record each global and ``self.name`` that a statement sets, and whether a function yields.

        Only statements set them, and a yield is almost always the direct value of a statement. The walk
        therefore skips expressions.
        """
        if isinstance(getattr(node, "value", None), (ast.Yield, ast.YieldFrom)):
            function.is_generator = True
        elif isinstance(node, ast.Global):
            function.global_names |= {*node.names}
            for name in node.names:
                self._note_global(name, None)
        elif isinstance(node, ast.Nonlocal):
            function.nonlocal_names |= {*node.names}
        if function is self.module.body:
            self._note_globals(node)
        if function.owner is not None:
            _note_attributes(node, function, function.owner)

    def _note_globals(self, node: ast.stmt) -> None:
        for target in _targets_of(node):
            if isinstance(target, ast.Name):
                is_whole = isinstance(node, ast.Assign) and target in node.targets
                is_whole |= isinstance(node, ast.AnnAssign) and last_name(node.annotation) == "TypeAlias"
                self._note_global(target.id, getattr(node, "value", None) if is_whole else None)


def _note_attributes(node: ast.stmt, method: Function, owner: Class) -> None:
    """Record the attributes that a statement of a method sets on its object, also by ``register_buffer``."""
    receiver = method.parameters[0].name if method.parameters else ""
    for target in _targets_of(node):
        if isinstance(target, ast.Attribute) and dotted_name(target.value) == receiver:
            owner.stored.add(target.attr)
    call = getattr(node, "value", None)
    if isinstance(call, ast.Call) and dotted_name(call.func) == f"{receiver}.register_buffer":
        owner.stored.update(str(arg.value) for arg in call.args[:1] if isinstance(arg, ast.Constant))


def _fields(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yield the fields in a call that makes a named tuple, each with its annotation."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield from ((name, ast.Name("object", ast.Load())) for name in node.value.replace(",", " ").split())
    for item in node.elts if isinstance(node, (ast.List, ast.Tuple)) else ():
        name: ast.expr = item
        annotation: ast.expr = ast.Name("object", ast.Load())
        if isinstance(item, ast.Tuple) and len(item.elts) == 2:
            name, annotation = item.elts
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            yield name.value, annotation


_SIMPLE = types_of(
    ast.AnnAssign, ast.Assert, ast.Assign, ast.AugAssign, ast.Break, ast.Continue, ast.Delete, ast.Expr, ast.Global,
     ast.Import, ast.ImportFrom, ast.Nonlocal, ast.Pass, ast.Raise, ast.Return
)  # fmt: skip
_ASSIGN = types_of(
    ast.AnnAssign, ast.Assign, ast.AsyncFor, ast.AsyncWith, ast.AugAssign, ast.Delete, ast.For, ast.With
)


def blocks_of(node: ast.stmt) -> list[list[ast.stmt]]:
    """Return the bodies of a statement, in order."""
    if type(node) in _SIMPLE:
        return []
    blocks = [getattr(node, name, None) or [] for name in ("body", "orelse", "finalbody")]
    blocks += [each.body for each in getattr(node, "handlers", None) or getattr(node, "cases", None) or []]
    return blocks


def _targets_of(node: ast.stmt) -> Iterator[ast.expr]:
    """Yield each single target of the assignments in a statement."""
    if type(node) not in _ASSIGN:
        return
    targets = [*getattr(node, "targets", ()), getattr(node, "target", None)]
    targets += [item.optional_vars for item in getattr(node, "items", ())]
    while targets:
        target = targets.pop()
        if isinstance(target, (ast.Tuple, ast.List)):
            targets.extend(target.elts)
        elif target is not None:
            yield target


def parameters_of(arguments: ast.arguments) -> Iterator[Parameter]:
    """Yield the parameters in order, each with its default."""
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(arguments.defaults))
    for arg, default in zip(plain, [*defaults, *arguments.defaults], strict=True):
        yield Parameter(arg.arg, arg.annotation, default, "", keyword_only=False)
    if arguments.vararg:
        arg = arguments.vararg
        yield Parameter(arg.arg, arg.annotation, None, "*", keyword_only=False)
    for arg, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield Parameter(arg.arg, arg.annotation, default, "", keyword_only=True)
    if arguments.kwarg:
        arg = arguments.kwarg
        yield Parameter(arg.arg, arg.annotation, None, "**", keyword_only=False)


def _called(node: ast.expr) -> ast.expr:
    return node.func if isinstance(node, ast.Call) else node

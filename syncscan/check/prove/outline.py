"""Outlines of files: the text outside of bodies, and the names in bodies that walks of other files depend on.

A proof of an edited project keeps the walks of unchanged files where the outlines of the edited files are as they were.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeGuard

from syncscan.check.infer.source.index import Function, Module
from syncscan.check.infer.source.syntax import NodesByType, last_name, walk
from syncscan.check.prove.bindings import bindings_of
from syncscan.check.prove.computed_names import names_at_calls
from syncscan.check.prove.identity import gives_back, returned_parameter
from syncscan.check.prove.ran import Ran, code_of
from syncscan.check.prove.uses import blocks_of, filled_by, other_uses
from syncscan.syntax.source_text import first_line

# Methods of modules that set an attribute of the name that they are given.
REGISTERING = frozenset({"register_buffer", "register_parameter", "register_module", "add_module"})
DATA = "data"  # of a tensor, whose setting sets the attribute that the tensor is read from
ANY_NAME = "*"  # of an attribute that a function sets under a computed name, on its own object
SETTER = "__setattr__"  # whose body the walks of functions that set an attribute go through
ANNOTATED = ":"  # behind the name of an attribute that a function annotates: ``self.size: int = 0``
_NAMES_ATTRIBUTE = tuple(f"{name}(" for name in ("setattr", "__setattr__", *sorted(REGISTERING)))
# Special methods that make objects and classes, or end them.
_MAKING = frozenset(
    {
        "__init__",
        "__new__",
        "__post_init__",
        "__init_subclass__",
        "__set_name__",
        "__class_getitem__",
        "__del__",
    }
)
# Nodes that define something in a body, or that decide how a call of its function goes.
_DEFINING: tuple[type[ast.stmt | ast.expr], ...] = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal,
    ast.Yield, ast.YieldFrom, ast.NamedExpr,
)  # fmt: skip
# Values that the check takes for no other name of a definition or a type.
_DATA = (
    ast.Constant,
    ast.List,
    ast.Tuple,
    ast.Set,
    ast.Dict,
    ast.UnaryOp,
    ast.Compare,
    ast.BoolOp,
    ast.JoinedStr,
)
_MAKES_SPARSE = re.compile(
    r"\bsparse_(coo|csr|csc|bsr|bsc|compressed)|\bto_sparse|\btorch\.sparse\b(?!\.check_sparse)|\bsparse=True"
)


# Texts of files that may register operations of torch, in bodies too.
_REGISTERING = ("custom_op", ".impl(", "torch.library")


@dataclass(frozen=True, slots=True)
class Outline:
    """The facts of a file that walks of other files read; functions and classes by their positions in the module."""

    stores: list[
        tuple[int, str, bool]
    ]  # attributes that functions set, and whether on other objects than their own
    uses: list[str]  # attributes with a use that does not only read or fill a list
    hooks: list[
        tuple[str, bool, int, int]
    ]  # hooks of modules that are registered: the name, whether of an object, the first and the last line
    assigned: list[tuple[int, str]]  # the names that bodies of classes assign
    rebound: list[
        str
    ]  # the names that the top of the module binds more than once, or the body of a class defines so
    makes_sparse: list[tuple[int, int]]  # the first and the last line of statements that make sparse tensors
    has_distributions: bool
    definitions: str  # a digest of the text outside of bodies, of returned parameters, and of what registers operations

    @classmethod
    def of(cls, module: Module) -> Outline:
        """Return the outline of a file."""
        text, nodes = module.lines.text, NodesByType(module.tree)
        return cls(
            [*_stores(module)],
            sorted({*other_uses(text, nodes)}),
            [*_hooks(text, nodes)],
            [
                (position, name)
                for position, each in enumerate(module.classes)
                for node in statements_of(each.node.body)
                for name in body_targets(node)
            ],
            [*_rebound(module)],
            [*_making_sparse(text, nodes)],
            "torch.distributions" in text,
            _digest_of(
                [_definitions(module, nodes), text if any(each in text for each in _REGISTERING) else ""]
            ),
        )

    def data(self) -> list[Any]:
        """Return the outline as data."""
        return [getattr(self, each.name) for each in fields(self)]

    def digest(self, module: Module, ran: Ran) -> str:
        """Return a digest of all that walks of other files read beside answers: definitions, hooks, returned parameters.

        With a run, the digest has the places of functions, the functions that ran, and the lines, among them imports.
        """
        facts: list[Any] = [self.hooks, bool(self.makes_sparse), self.has_distributions, self.definitions]
        if ran.knows_lines:
            facts += [[code_of(each)[1], ran.body(each)] for each in module.functions]
            facts += [[ran.made(each)] for each in module.classes]
            facts += [ran.lines_of(module), self.makes_sparse]
        return _digest_of(facts)


def _digest_of(facts: Any) -> str:
    return hashlib.sha256(json.dumps(facts).encode("utf-8", "surrogatepass")).hexdigest()


def _definitions(module: Module, nodes: NodesByType) -> list[Any]:
    """Return what calls from other files depend on: the text outside of bodies, and the parameters that functions return."""
    returned = [*map(returned_parameter, module.functions)]
    given_back = [gives_back(each) for each in module.functions if each.children]
    return [[*_text_around(module, nodes)], returned, given_back]


def _text_around(module: Module, nodes: NodesByType) -> Iterator[str]:
    """Yield the lines of a file without those of bodies of functions, but for statements in them that define something.

    The names of variables that hold data stand for their lines: walks of other files ask the walk of the module for the value.
    """
    rows = module.lines.split()
    inside, others = {*_silent_rows(module, rows, nodes)}, set[int]()
    defining = sorted(node.lineno for node in nodes.of(*_DEFINING))
    for function in module.functions:
        if isinstance(function.node, ast.FunctionDef | ast.AsyncFunctionDef) and function.name != SETTER:
            inside.update(_rows_of(function.node))
            others.update(_defining_rows(function.node, defining))
    names: dict[int, str] = {}
    for data in _data_of(module, rows, defining):
        inside.update(_rows_of(data))
        names[data.lineno] = " ".join(ast.unparse(target) for target in data.targets)
    for number, row in enumerate(rows, 1):
        if number in names:
            yield names[number]
        elif number in others or number not in inside:
            yield row


def _rows_of(node: ast.stmt | ast.expr) -> range:
    return range(node.lineno, (node.end_lineno or 0) + 1)


def _defining_rows(node: ast.FunctionDef | ast.AsyncFunctionDef, defining: Sequence[int]) -> Iterator[int]:
    """Yield the numbers of the lines of a function's signature, and of statements in the body that define something.

    ``defining`` has the lines in which something is defined.
    """
    parts = [*walk(node.args), *filter(None, [node.returns])]
    head = max([node.lineno, *(getattr(each, "end_lineno", None) or 0 for each in parts)])
    yield from range(node.lineno, head + 1)
    for statement in node.body:
        if _has_any(statement, defining):
            yield from range(first_line(statement), (statement.end_lineno or 0) + 1)


def _silent_rows(module: Module, rows: Sequence[str], nodes: NodesByType) -> Iterator[int]:
    """Yield the numbers of lines that say nothing: empty ones, comments, and texts that document modules and classes."""
    texts = set[int]()
    for node in nodes.of(ast.Constant, ast.JoinedStr):
        if (node.end_lineno or 0) > node.lineno:
            texts.update(_rows_of(node))
    yield from (
        number for number, row in enumerate(rows, 1) if number not in texts and row.strip()[:1] in {"", "#"}
    )
    bodies = [module.tree.body, *(each.node.body for each in module.classes)]
    for statement in (each for body in bodies for each in body):
        if _is_text(statement) and _is_alone(statement, rows):
            yield from _rows_of(statement)


def _is_text(statement: ast.stmt) -> bool:
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _data_of(module: Module, rows: Sequence[str], defining: Sequence[int]) -> Iterator[ast.Assign]:
    """Yield the assignments at the top of a module whose values are data, and so no other name of a definition or a type.

    Those on lines that define something are not among them.
    """
    for statement in module.tree.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, _DATA):
            is_plain = all(isinstance(each, ast.Name) for each in statement.targets)
            if is_plain and _is_alone(statement, rows) and not _has_any(statement, defining):
                yield statement


def _is_alone(statement: ast.stmt, rows: Sequence[str]) -> bool:
    """Return whether the lines of a statement hold nothing else, comments aside."""
    first = rows[statement.lineno - 1].encode(errors="surrogatepass")
    last = rows[(statement.end_lineno or 0) - 1].encode(errors="surrogatepass")
    before, after = first[: statement.col_offset], last[statement.end_col_offset or 0 :]
    return not before.strip() and after.strip()[:1] in {b"", b"#"}


def _has_any(statement: ast.stmt, lines: Sequence[int]) -> bool:
    """Return whether any of some lines, which are in order, is of a statement."""
    return bisect_left(lines, statement.lineno) < bisect_right(lines, statement.end_lineno or 0)


def _stores(module: Module) -> Iterator[tuple[int, str, bool]]:
    names_any = any(name in module.lines.text for name in _NAMES_ATTRIBUTE)
    for position, function in enumerate(module.functions):
        stored = _stored_attributes(function)
        if names_any:
            for attribute, of_others in _attributes_by_name(function):
                stored[attribute] = stored.get(attribute, False) or of_others
        for attribute, of_others in stored.items():
            yield position, attribute, of_others


def _hooks(text: str, nodes: NodesByType) -> Iterator[tuple[str, bool, int, int]]:
    for node in nodes.of(ast.Call) if "_hook(" in text else ():
        if not isinstance(node.func, ast.Attribute):
            continue
        name = node.func.attr
        if not (name.startswith("register_") and name.endswith("hook")) or "state_dict" in name:
            continue
        hook = node.args[0] if node.args else None
        lines = (node.lineno, node.end_lineno or node.lineno)
        if isinstance(hook, ast.Attribute):
            yield hook.attr, True, *lines
        else:
            yield hook.id if isinstance(hook, ast.Name) else "", False, *lines


def _rebound(module: Module) -> list[str]:
    bindings = bindings_of(module, lambda *_: None).by_name
    found = {name for name, each in bindings.items() if len(each) > 1}
    for cls in module.classes:
        defined = Counter(getattr(each, "name", "") for each in statements_of(cls.node.body))
        found |= {name for name, count in defined.items() if name and count > 1}
    return sorted(found)


def _making_sparse(text: str, nodes: NodesByType) -> Iterator[tuple[int, int]]:
    """Yield the lines of the innermost statements around what makes sparse tensors, or names it in a text or a comment."""
    if "sparse" not in text:
        return
    statements = list(nodes.of(ast.stmt))
    for match in _MAKES_SPARSE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        around = [each for each in statements if each.lineno <= line <= (each.end_lineno or line)]
        inner = min(around, key=lambda each: (each.end_lineno or line) - each.lineno, default=None)
        yield (line, line) if inner is None else (inner.lineno, inner.end_lineno or line)


def plain_targets(node: ast.stmt) -> list[str]:
    """Return the names that a statement assigns one value to."""
    targets = node.targets if isinstance(node, ast.Assign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def is_special(name: str) -> bool:
    """Return whether a name is that of a special method, other than of those that make objects and classes."""
    return name.startswith("__") and name.endswith("__") and name not in _MAKING


def statements_of(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of the body of a class, those under a condition among them."""
    for node in body:
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for block in blocks_of(node):
                yield from statements_of(block)


def body_targets(node: ast.stmt) -> list[str]:
    """Return the names that a statement in the body of a class sets, with an annotation or without."""
    if isinstance(node, ast.AnnAssign) and node.value is not None and isinstance(node.target, ast.Name):
        return [node.target.id]
    several = [each for each in getattr(node, "targets", ()) if isinstance(each, ast.Tuple | ast.List)]
    inside = [part.id for each in several for part in each.elts if isinstance(part, ast.Name)]
    return plain_targets(node) + inside


def _stored_attributes(function: Function) -> dict[str, bool]:
    """Return the attributes that a function's code sets or fills, each with whether on other objects than its own."""
    found: dict[str, bool] = {}
    own = own_name(function)
    queue: list[ast.AST] = [*getattr(function.node, "body", ())]
    while queue:
        node = queue.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        if isinstance(node, ast.stmt):
            targets = [*getattr(node, "targets", ()), getattr(node, "target", None)]
            targets += [item.optional_vars for item in getattr(node, "items", ())]
            if isinstance(node, ast.AnnAssign) and _is_own(node.target, own):
                found[f"{node.target.attr}{ANNOTATED}"] = False
            queue += [each for each in (*targets, filled_by(node)) if isinstance(each, ast.AST)]
            for block in blocks_of(node):
                queue += block
        elif isinstance(node, (ast.Tuple, ast.List)):
            queue += node.elts
        elif isinstance(node, ast.Starred):
            queue.append(node.value)
        elif isinstance(node, ast.Attribute):
            found[node.attr] = found.get(node.attr, False) or not _is_own(node, own)
            queue += [node.value] if node.attr == DATA else []
    return found


def _is_own(node: ast.expr, own: str) -> TypeGuard[ast.Attribute]:
    """Return whether an expression is an attribute of the object of a method."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == own


def _attributes_by_name(function: Function) -> Iterator[tuple[str, bool]]:
    """Yield the attributes that a function sets by calls with their names: ``setattr(x, "a", 1)``."""
    own, known = own_name(function), names_at_calls(function.node)
    for node in walk(function.node):
        if isinstance(node, ast.Call) and (found := set_by(node)) is not None:
            owner, name, _ = found
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                yield name.value, True
                if name.value == DATA and isinstance(owner, ast.Attribute):
                    yield owner.attr, True
            elif own and (owner is None or (isinstance(owner, ast.Name) and owner.id == own)):
                names = known.get(node, {}).get(name.id) if isinstance(name, ast.Name) else None
                yield from ((each, False) for each in sorted(names or {ANY_NAME}))


def own_name(function: Function) -> str:
    """Return the name of the object of a method, or ""."""
    return function.parameters[0].name if function.parameters and not function.is_static else ""


def set_by(node: ast.Call) -> tuple[ast.expr | None, ast.expr, ast.expr | None] | None:
    """Return the owner, the name and the value of the attribute that a call sets by its name; the owner is None for ``super()``."""
    func, args = node.func, list(node.args)
    owner, called = (func.value, func.attr) if isinstance(func, ast.Attribute) else (None, last_name(func))
    if called in REGISTERING:
        args += sorted((each.value for each in node.keywords), key=_is_no_name(node))
    elif called == "setattr" or (called == "__setattr__" and len(args) == 3):
        owner, args = (args[0], args[1:]) if args else (owner, args)
    elif called != "__setattr__":
        return None
    if isinstance(owner, ast.Call) and last_name(owner.func) == "super":
        owner = None
    return (owner, args[0], args[1] if len(args) > 1 else None) if args else None


def _is_no_name(node: ast.Call) -> Callable[[ast.expr], bool]:
    """Return a test for the values of keyword arguments other than ``name``."""
    names = [each.value for each in node.keywords if each.arg == "name"]
    return lambda value: value not in names

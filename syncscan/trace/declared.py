"""The kind of value that a source file itself gives to an expression: by a constructor, an annotation or a use."""

from __future__ import annotations

import ast
import functools
from collections import defaultdict
from collections.abc import Iterable, Mapping

from syncscan.model import Device, Kind, Value
from syncscan.syntax.names import dotted_name
from syncscan.syntax.use import loop_over
from syncscan.trace.parsed import ParsedModule

_LIST = Value(Kind.LIST)
_TUPLE = Value(Kind.TUPLE)
_ARRAY = Value(Kind.NDARRAY, Device.CPU)
_NUMBER = Value(Kind.NUMBER, Device.CPU)
_ANNOTATED = {
    "list": _LIST,
    "List": _LIST,
    "ModuleList": _LIST,
    "tuple": _TUPLE,
    "Tuple": _TUPLE,
    "ndarray": _ARRAY,
    "int": _NUMBER,
    "float": _NUMBER,
    "bool": _NUMBER,
}
_MADE_BY = {
    "builtins.list": _LIST,
    "builtins.sorted": _LIST,
    "torch.nn.ModuleList": _LIST,
    "torch.nn.Sequential": _LIST,
    "builtins.tuple": _TUPLE,
    "builtins.len": _NUMBER,
    "builtins.int": _NUMBER,
}
_MADE: dict[type[ast.expr], Value] = {ast.List: _LIST, ast.ListComp: _LIST, ast.Tuple: _TUPLE}


@functools.lru_cache(maxsize=64)  # each case of an operation asks for the same operands
def declared(node: ast.AST, module: ParsedModule) -> Value | None:
    """Return a value of the kind that the file gives to an expression; None where the file leaves the kind open.

    A name or an attribute has a kind if all its assignments agree.
    """
    if _holds_objects(node, module):
        return _LIST
    if isinstance(node, ast.Name):
        return _of_name(node, module)
    if isinstance(node, ast.Attribute) and (name := _own_attribute(node)):
        around = next((each for each in module.around_each.up(node) if isinstance(each, ast.ClassDef)), None)
        return _agreed(_attributes_of(around, module)[name]) if around is not None else None
    return _made(node, module)


def _holds_objects(node: ast.AST, module: ParsedModule) -> bool:
    """Return whether an item of the value is called or deleted, which no tensor allows."""
    item = module.around_each.parent(node)
    if not isinstance(item, ast.Subscript) or item.value is not node:
        return False
    user = module.around_each.parent(item)
    return isinstance(item.ctx, ast.Del) or (isinstance(user, ast.Call) and user.func is item)


def _made(node: ast.AST, module: ParsedModule) -> Value | None:
    if isinstance(node, ast.Call):
        name = module.name_of(node.func, "")
        return _ARRAY if name.startswith("numpy.") else _MADE_BY.get(name)
    if isinstance(node, ast.Constant):
        return _NUMBER if isinstance(node.value, (int, float)) else None
    return _MADE.get(type(node)) if isinstance(node, ast.expr) else None


def _of_name(node: ast.Name, module: ParsedModule) -> Value | None:
    around = module.around_each
    loop = loop_over(node.id, node, around)
    if loop is not None:
        in_range = isinstance(loop, ast.Call) and module.name_of(loop.func, "") == "builtins.range"
        return _NUMBER if in_range else None
    assigned = around.names_around(node).assigned[node.id]
    if assigned:
        return _agreed(_made(each.value, module) for each in assigned)
    function = around.root(node)
    given = function.args if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) else None
    parameters = [*given.posonlyargs, *given.args, *given.kwonlyargs] if given is not None else []
    return next((_annotated(each.annotation) for each in parameters if each.arg == node.id), None)


@functools.lru_cache(maxsize=64)  # each attribute of a class asks for the same statements
def _attributes_of(around: ast.ClassDef, module: ParsedModule) -> Mapping[str, set[Value | None]]:
    """Return what the statements of a class give to each attribute of `self`, but for those that change its value."""
    given: dict[str, set[Value | None]] = defaultdict(set)
    for each in ast.walk(around):
        if isinstance(each, ast.AnnAssign):
            name = each.target.id if isinstance(each.target, ast.Name) else _own_attribute(each.target)
            given[name].add(_annotated(each.annotation))
        elif isinstance(each, ast.Assign):
            changed = {_own_attribute(part) for part in ast.walk(each.value)}
            for name in {*map(_own_attribute, each.targets)} - changed:
                given[name].add(_made(each.value, module))
    return given


def _own_attribute(node: ast.AST) -> str:
    """Return the name of an attribute of `self`, or "" for another expression."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        return node.attr
    return ""


def _annotated(annotation: ast.expr | None) -> Value | None:
    """Return a value of an annotated kind: `list[int]`, `"list[int]"`, `nn.ModuleList` or `list[int] | None`."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        text = annotation.value.removesuffix(" | None")
        name = "" if "|" in text else text.partition("[")[0]
    else:
        name = dotted_name(_generic(annotation)) if annotation is not None else ""
    return _ANNOTATED.get(name.rpartition(".")[2])


def _generic(annotation: ast.expr) -> ast.expr:
    """Return an annotation without `| None` and without its parameters: `list` for `list[int] | None`."""
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.right, ast.Constant):
        annotation = annotation.left if annotation.right.value is None else annotation
    return annotation.value if isinstance(annotation, ast.Subscript) else annotation


def _agreed(values: Iterable[Value | None]) -> Value | None:
    found = set(values)
    return found.pop() if len(found) == 1 else None

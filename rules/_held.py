"""Suggestions to use data that the host has: those of a constructor, and copies that other statements make anyway."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from syncscan.model import Kind
from syncscan.rule import Facts
from syncscan.syntax.use import last_set

from ._data import data_behind
from ._loop_reads import changes_in_place
from ._parts import calls_in, is_path, kind_of_read, last_name, line_of, names_in, root_of
from ._suggestions import suggest

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_READS = frozenset({"item", "tolist", "cpu", "numpy"})
_NUMBERS = frozenset({"bool", "float", "int", "len", "max", "min", "sum", "isfinite", "isinf", "isnan"})
_LITERALS = (ast.List, ast.Tuple, ast.ListComp)


def of_host_data(tensor: ast.AST | None, node: ast.AST, facts: Facts) -> str:
    """Return the suggestion for a read of what the function itself creates from host data; "" for other reads."""
    root = root_of(tensor)
    if tensor is None or not isinstance(root, ast.Name) or _reads_others(tensor, root.id, facts):
        return ""
    made = last_set(root.id, node, facts.around(node))
    data = data_behind(made, facts) if made is not None else None
    if data is None or not _is_of_host(made, data) or _may_change(root, node, facts):
        return ""
    text = line_of(data, facts) or "the data"
    return suggest("host-has", data=text, tensor=root.id)


def _reads_others(tensor: ast.AST, name: str, facts: Facts) -> bool:
    """Return whether an expression reads another tensor of the GPU than the one of a name."""
    others = (each for each in ast.walk(tensor) if is_path(each) and name not in names_in(each))
    return any(facts.of(each).is_gpu for each in others)


def _is_of_host(made: ast.AST | None, data: ast.expr) -> bool:
    """Return whether the data of a constructor are no tensor: a list written out, or what `torch.tensor` takes."""
    calls = {last_name(call.func) for call in calls_in(made)}
    return isinstance(data, _LITERALS) or (isinstance(data, ast.Name) and "tensor" in calls)


def _may_change(root: ast.Name, node: ast.AST, facts: Facts) -> bool:
    """Return whether the function may change the tensor of a name in place, by a method, an operator or a call that is given it."""
    if changes_in_place(root, node, facts):
        return True
    return any(_changes(each, root.id) for each in _before(node, facts))


def _changes(node: ast.AST, name: str) -> bool:
    """Return whether a statement or call may change what a name holds: by ``+=``, by a store of an item, or as an argument."""
    if isinstance(node, ast.AugAssign):
        return name in names_in(node.target)
    if isinstance(node, ast.Assign):
        return any(isinstance(each, ast.Subscript) and name in names_in(each) for each in node.targets)
    if not isinstance(node, ast.Call) or last_name(node.func) in _NUMBERS:
        return False
    given = (*node.args, *(keyword.value for keyword in node.keywords))
    return any(isinstance(each, ast.Name) and each.id == name for each in given)


def _before(node: ast.AST, facts: Facts) -> Iterator[ast.AST]:
    """Yield the nodes of a function that may run before a node: those above it, and those of the loops around it."""
    around, line = facts.around(node), getattr(node, "lineno", 0)
    loops = {each for each in around.up(node) if isinstance(each, _LOOPS)}
    for each in _inside(node, facts):
        if getattr(each, "lineno", line) < line or not loops.isdisjoint(around.up(each)):
            yield each


def _inside(node: ast.AST, facts: Facts) -> Iterator[ast.AST]:
    """Yield the nodes of the function around a node."""
    function = next((each for each in facts.around(node).up(node) if isinstance(each, _FUNCTIONS)), None)
    return ast.walk(function) if function is not None else iter(())


def is_read_back(call: ast.Call, facts: Facts) -> bool:
    """Return whether the host reads back what a call uploads, and nothing else uses it."""
    statement = facts.statement(call)
    if not isinstance(statement, ast.Assign) or len(statement.targets) > 1 or statement.value is not call:
        return False
    target = statement.targets[0]
    if not isinstance(target, ast.Name):
        return False
    around = facts.around(call)
    uses = [
        each
        for each in _inside(call, facts)
        if isinstance(each, ast.Name) and each.id == target.id and each.lineno > (call.end_lineno or 0)
    ]
    outer = [next(iter(around.up(each, itself=False)), None) for each in uses]
    return bool(uses) and all(map(_is_read, outer)) and any(map(_gives_numbers, outer))


def _is_read(outer: ast.AST | None) -> bool:
    """Return whether what is around a name needs its numbers on the host, or tests them."""
    return isinstance(outer, ast.FormattedValue) or _gives_numbers(outer)


def _gives_numbers(outer: ast.AST | None) -> bool:
    if isinstance(outer, ast.Attribute):
        return outer.attr in _READS
    return isinstance(outer, ast.Call) and last_name(outer.func) in _NUMBERS


def of_copied_indices(call: ast.Call, facts: Facts) -> str:
    """Return the suggestion for indices of which the function reads elements on the host; "" for others."""
    statement = facts.statement(call)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    names = {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}
    reads = [each for each in _inside(call, facts) if isinstance(each, ast.Call) and kind_of_read(each)]
    read = [root_of(each.func.value) for each in reads if isinstance(each.func, ast.Attribute)]
    is_copied = any(isinstance(root, ast.Name) and root.id in names for root in read)
    return suggest("indices-on-host") if is_copied else ""


def of_a_later_copy(node: ast.AST, facts: Facts) -> str:
    """Return the suggestion for a check of what a later statement copies whole to the host; "" where none does."""
    tested = {ast.unparse(each) for each in ast.walk(node) if is_path(each) and _may_be_on_gpu(each, facts)}
    for statement, _ in facts.behind(node):
        for call in calls_in(statement):
            is_copy = isinstance(call.func, ast.Attribute) and call.func.attr in {"tolist", "cpu"}
            if is_copy and isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) in tested:
                return suggest("copied-later", copy=ast.unparse(call))
        if any(ast.unparse(each) in tested for each in ast.walk(statement) if _is_stored(each)):
            break
    return ""


def _may_be_on_gpu(node: ast.AST, facts: Facts) -> bool:
    return facts.of(node).is_gpu or facts.of(node).kind is Kind.MOVED


def _is_stored(node: ast.AST) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Store)

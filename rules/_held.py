"""Suggestions to use data that the host has: those of a constructor, and copies that other statements make anyway."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from syncscan.model import Kind
from syncscan.rule import Facts

from ._data import data_behind
from ._loop_reads import changes_in_place
from ._parts import calls_in, is_path, last_name, names_in
from ._suggestions import suggest

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_READS = frozenset({"item", "tolist"})
_REDUCE = frozenset({"max", "min", "sum"})
_NUMBERS = frozenset({"bool", "float", "int", "isfinite", "isinf", "isnan", "len", "max", "min", "sum"})
_COUNTS = frozenset({"len", "range", "zip", "enumerate"})


def of_host_data(tensor: ast.AST | None, node: ast.AST, facts: Facts) -> str:
    """Return the suggestion for a read of a tensor of lengths that the function itself makes; "" for other reads.

    The function may neither change the tensor nor hand it on before the read, nor set what the lengths are of anew.
    """
    name = _part_of(tensor)
    made = _only_setting(name, node, facts) if name else None
    data = data_behind(made.value, facts) if made is not None else None
    if made is None or data is None or not _are_lengths(data) or ast.unparse(made.value).count("dtype"):
        return ""
    used = {name, *names_in(data)}
    between = [each for each in _inside(node, facts) if _is_between(each, made, node, facts)]
    read = {*ast.walk(tensor or node)}
    if any(_may_change(each, name, used, read) for each in between):
        return ""
    return suggest("host-has", data=ast.unparse(data), tensor=name)


def _part_of(tensor: ast.AST | None) -> str:
    """Return the name of a tensor that is read whole, by an element, or by its largest, least or sum; "" for others."""
    while tensor is not None and not isinstance(tensor, ast.Name):
        if isinstance(tensor, ast.Call) and isinstance(tensor.func, ast.Attribute) and not tensor.args:
            tensor = tensor.func.value if tensor.func.attr in _REDUCE else None
        elif isinstance(tensor, ast.Compare) and isinstance(tensor.comparators[0], ast.Constant):
            tensor = tensor.left
        elif isinstance(tensor, ast.Subscript) and isinstance(tensor.slice, (ast.Constant, ast.Name)):
            tensor = tensor.value
        else:
            return ""
    return tensor.id if isinstance(tensor, ast.Name) else ""


def _only_setting(name: str, node: ast.AST, facts: Facts) -> ast.Assign | None:
    """Return the assignment at the top of the function that alone sets a name; None where something else may."""
    function = _function(node, facts)
    top = function.body if function is not None else []
    stored = [each for each in _inside(node, facts) if _is_stored(each) and ast.unparse(each) == name]
    found = [
        each for each in top if isinstance(each, ast.Assign) and [*map(ast.unparse, each.targets)] == [name]
    ]
    return found[0] if len(stored) == 1 and len(found) == 1 else None


def _are_lengths(data: ast.expr) -> bool:
    """Return whether data are a list of lengths, which no dtype rounds, and which no tensor holds."""
    if isinstance(data, ast.ListComp):
        elements, sources = [data.elt], [each.iter for each in data.generators]
    else:
        elements, sources = (data.elts if isinstance(data, (ast.List, ast.Tuple)) else []), []
    are_counts = all(isinstance(each, ast.Call) and ast.unparse(each.func) == "len" for each in elements)
    calls = {last_name(call.func) for each in (*elements, *sources) for call in calls_in(each)}
    return bool(elements) and are_counts and calls <= _COUNTS


def _is_between(each: ast.AST, made: ast.Assign, node: ast.AST, facts: Facts) -> bool:
    """Return whether a node of the function may run after an assignment and before a read: it is above, or in a loop with the read."""
    around = facts.around(node)
    loops = [outer for outer in around.up(node) if isinstance(outer, (ast.For, ast.AsyncFor, ast.While))]
    start = _start(each)
    is_above = (made.end_lineno or 0, made.end_col_offset or 0) <= start <= _start(node) and each is not node
    return is_above or (start > (0, 0) and any(outer in around.up(each) for outer in loops))


def _start(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _may_change(node: ast.AST, name: str, used: set[str], read: set[ast.AST]) -> bool:
    """Return whether a node may change a tensor or its data: by a store, by a call that is given them, or under another name.

    A call that is given the result of the read gets a number.
    """
    if isinstance(node, ast.Call):
        return _calls_with(node, name, used, read)
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.Return, ast.Yield)):
        value = node.value
        return isinstance(value, ast.Name) and value.id in used
    if isinstance(node, (*_FUNCTIONS, ast.Lambda)):
        return name in names_in(node)
    return _is_stored(node) and not used.isdisjoint(names_in(node))


def _calls_with(call: ast.Call, name: str, used: set[str], read: set[ast.AST]) -> bool:
    """Return whether a call may change a tensor or its data, as their method or with the tensor as an argument."""
    method = call.func if isinstance(call.func, ast.Attribute) else None
    if (
        method is not None
        and method.attr not in _READS | _REDUCE
        and not used.isdisjoint(names_in(method.value))
    ):
        return True
    given = [*call.args, *(each.value for each in call.keywords)]
    handed = {inner for each in given for inner in ast.walk(each)} - read
    is_handed = any(isinstance(each, ast.Name) and each.id == name for each in handed)
    return last_name(call.func) not in _NUMBERS and is_handed


def _function(node: ast.AST, facts: Facts) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    return next((each for each in facts.around(node).up(node) if isinstance(each, _FUNCTIONS)), None)


def _inside(node: ast.AST, facts: Facts) -> Iterator[ast.AST]:
    """Yield the nodes of the function around a node; none at the top of a module."""
    function = _function(node, facts)
    return ast.walk(function) if function is not None else iter(())


def is_read_back(call: ast.Call, facts: Facts) -> bool:
    """Return whether the host reads back the number that a call uploads, and nothing else uses it."""
    statement = facts.statement(call)
    if not isinstance(statement, ast.Assign) or len(statement.targets) > 1 or statement.value is not call:
        return False
    name = ast.unparse(statement.targets[0])
    data = call.args[0] if call.args else None
    if not isinstance(data, ast.Name) or _only_setting(name, call, facts) is not statement:
        return False
    return _is_only_read(name, call, facts)


def _is_only_read(name: str, node: ast.AST, facts: Facts) -> bool:
    """Return whether the function gives a name's numbers to the host, and does nothing else with the name."""
    around = facts.around(node)
    named = (each for each in _inside(node, facts) if isinstance(each, ast.Name) and each.id == name)
    uses = [each for each in named if not _is_stored(each)]
    outer = [_around_element(each, [*around.up(each, itself=False)]) for each in uses]
    declared = any(isinstance(each, (ast.Global, ast.Nonlocal)) for each in _inside(node, facts))
    return bool(uses) and not declared and all(map(_is_read, outer)) and any(map(_gives_numbers, outer))


def _around_element(node: ast.AST, outer: list[ast.AST]) -> ast.AST | None:
    """Return what is around a name, or around an element of what it names."""
    is_element = bool(outer) and isinstance(outer[0], ast.Subscript) and outer[0].value is node
    return next(iter(outer[1:] if is_element else outer), None)


def _is_read(outer: ast.AST | None) -> bool:
    """Return whether what is around a name needs its numbers on the host, or tests them."""
    return isinstance(outer, ast.FormattedValue) or _gives_numbers(outer)


def _gives_numbers(outer: ast.AST | None) -> bool:
    if isinstance(outer, ast.Attribute):
        return outer.attr in _READS
    return isinstance(outer, ast.Call) and last_name(outer.func) in _NUMBERS


def of_copied_indices(call: ast.Call, facts: Facts) -> str:
    """Return the suggestion for indices that the function only reads on the host, element by element; "" for others."""
    statement = facts.statement(call)
    target = (
        statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    )
    is_only_read = isinstance(target, ast.Name) and _is_only_read(target.id, call, facts)
    return suggest("indices-on-host") if is_only_read else ""


def of_a_later_copy(node: ast.AST, facts: Facts) -> str:
    """Return the suggestion for a check of what a later statement copies whole to the host; "" where none does.

    Statements in between may neither change what is checked nor hand it on.
    """
    tested = {
        ast.unparse(each): each for each in ast.walk(node) if is_path(each) and _may_be_on_gpu(each, facts)
    }
    if any(changes_in_place(each, node, facts) for each in tested.values()):
        return ""
    for statement, _ in facts.behind(node):
        copies = [each for each in calls_in(statement) if _copied_by(each) in tested]
        if copies:
            return suggest("copied-later", copy=ast.unparse(copies[0]))
        if not isinstance(statement, ast.Assert) and any(
            ast.unparse(each) in tested for each in ast.walk(statement) if is_path(each)
        ):
            return ""
    return ""


def _copied_by(call: ast.Call) -> str:
    """Return the text of what a call copies whole to the host; "" for other calls."""
    method = call.func if isinstance(call.func, ast.Attribute) else None
    return ast.unparse(method.value) if method is not None and method.attr in {"cpu", "tolist"} else ""


def _may_be_on_gpu(node: ast.AST, facts: Facts) -> bool:
    return facts.of(node).is_gpu or facts.of(node).kind is Kind.MOVED


def _is_stored(node: ast.AST) -> bool:
    return isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del))

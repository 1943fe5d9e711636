"""Modules that are still where the code at hand made them, as the uses of their names up to a move tell."""

from __future__ import annotations

import ast

from syncscan.rule import Facts
from syncscan.syntax.context import SyntaxContext

# Methods that return the module itself, and leave it where it is.
_STAYS = frozenset({"bfloat16", "double", "eval", "float", "half", "requires_grad_", "to", "train"})
_MOVES = frozenset({"cuda", "to", "to_empty"})
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_PATHS = (ast.Name, ast.Attribute)


def is_still_new(call: ast.Call, facts: Facts) -> bool:
    """Return whether the module that a call moves has not been moved, handed on or given another name before.

    Such a module is the result of another call, or has a name that the same function sets, in the same loops.
    """
    module, around = _moved_by(call), facts.around(call)
    function = _function_around(call, around)
    moved = _moved_in(function)
    if not isinstance(module, _PATHS):
        return _is_of_new_parts(module, moved)
    places = _places_of(module, function)
    made = _last_set(places, call, around)
    between = [node for node in places if _end(made) <= _start(node) < _start(module)]
    return (
        _is_of_new_parts(getattr(made, "value", None), moved)
        and _loops(made, around) == _loops(call, around)
        and all(_leaves(node, around) for node in between)
    )


def _moved_by(call: ast.Call) -> ast.expr:
    """Return what a call such as `Net().eval().to(device)` moves, before the methods that leave it where it is."""
    module: ast.expr = call
    while isinstance(module, ast.Call) and isinstance(module.func, ast.Attribute):
        if module is not call and module.func.attr not in _STAYS:
            break
        module = module.func.value
    return module


def _places_of(path: ast.expr, function: ast.AST) -> list[ast.expr]:
    text = ast.unparse(path)
    return [node for node in ast.walk(function) if isinstance(node, _PATHS) and ast.unparse(node) == text]


def _last_set(places: list[ast.expr], call: ast.Call, around: SyntaxContext) -> ast.AST:
    """Return the statement that last sets a path before a call; the call itself if none does."""
    sets = [
        node
        for node in places
        if isinstance(getattr(node, "ctx", None), ast.Store) and _start(node) < _start(call)
    ]
    return around.statement(max(sets, key=_start)) if sets else call


def _is_of_new_parts(made: ast.AST | None, moved: set[str]) -> bool:
    """Return whether an expression is a call that is given nothing that the function moves, such as a part."""
    if not isinstance(made, ast.Call):
        return False
    return not any(isinstance(each, _PATHS) and ast.unparse(each) in moved for each in ast.walk(made))


def _moved_in(function: ast.AST) -> set[str]:
    """Return the paths of what a function moves by its name: `inner` of `inner.to(device)`."""
    calls = (node.func for node in ast.walk(function) if isinstance(node, ast.Call))
    return {
        ast.unparse(called.value)
        for called in calls
        if isinstance(called, ast.Attribute) and called.attr in _MOVES and isinstance(called.value, _PATHS)
    }


def _function_around(node: ast.AST, around: SyntaxContext) -> ast.AST:
    outermost = node
    for outermost in around.up(node, itself=False):
        if isinstance(outermost, _FUNCTIONS):
            break
    return outermost


def _loops(node: ast.AST, around: SyntaxContext) -> list[ast.AST]:
    return [each for each in around.up(node) if isinstance(each, _LOOPS)]


def _leaves(module: ast.AST, around: SyntaxContext) -> bool:
    """Return whether a use of a module leaves it where it is: the read of an attribute, or the call of such a method."""
    use, holder = module, around.parent(module)
    if not isinstance(holder, ast.Attribute):
        return False
    while isinstance(holder, ast.Attribute):
        use, holder = holder, around.parent(holder)
    is_called = isinstance(holder, ast.Call) and holder.func is use
    return not is_called or (isinstance(use, ast.Attribute) and use.attr in _STAYS - {"to"} | _READS)


_READS = frozenset(
    {"apply", "buffers", "children", "load_state_dict", "modules", "named_buffers", "named_children", "named_modules",
     "named_parameters", "parameters", "state_dict", "zero_grad"}
)  # fmt: skip


def _start(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _end(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0)

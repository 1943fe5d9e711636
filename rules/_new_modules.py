"""New modules: whether the function that makes a module may have moved it before a call that moves it."""

from __future__ import annotations

import ast
from collections import defaultdict

from syncscan.rule import Facts
from syncscan.syntax.context import SyntaxContext

from ._parts import is_path

# Methods that return the module itself, and leave it where it is.
_STAYS = frozenset({"bfloat16", "double", "eval", "float", "half", "requires_grad_", "train"})
_MOVES = frozenset({"cuda", "to", "to_empty"})
_READS = frozenset(
    {"apply", "buffers", "children", "load_state_dict", "modules", "named_buffers", "named_children", "named_modules",
     "named_parameters", "parameters", "state_dict", "zero_grad"}
)  # fmt: skip
_LOOPS = (ast.For, ast.AsyncFor, ast.While)

Places = dict[str, list[ast.expr]]  # of each name and attribute path in a function


def is_still_new(call: ast.Call, facts: Facts) -> bool:
    """Return whether the module that a call moves has not been moved, handed on or given another name before.

    Such a module is the result of another call, or has a name that the same function sets, in the same loops.
    """
    around = facts.around(call)
    module, places = _moved_by(call), _places_around(call, around)
    if not is_path(module):
        return _is_of_new_parts(module, places, around)
    uses = places[around.text.bare_text_of(module)]
    made = _last_set(uses, call, around)
    between = [use for use in uses if _end(made) <= _start(use) < _start(module)]
    return (
        _is_of_new_parts(getattr(made, "value", None), places, around)
        and _loops(made, around) == _loops(call, around)
        and all(_leaves(use, around) for use in between)
    )


def _moved_by(call: ast.Call) -> ast.expr:
    """Return the module that a call moves: `Net()` of `Net().eval().to(device)`."""
    assert isinstance(call.func, ast.Attribute)
    module = call.func.value
    while isinstance(module, ast.Call) and isinstance(module.func, ast.Attribute):
        if module.func.attr not in {*_STAYS, "to"}:
            break
        module = module.func.value
    return module


def _places_around(node: ast.AST, around: SyntaxContext) -> Places:
    """Return where the function around a node mentions each name and attribute path."""
    places: Places = defaultdict(list)
    for each in ast.walk(around.root(node)):
        if isinstance(each, (ast.Name, ast.Attribute)) and is_path(each):
            places[around.text.bare_text_of(each)].append(each)
    return places


def _last_set(uses: list[ast.expr], call: ast.Call, around: SyntaxContext) -> ast.AST:
    """Return the statement that last sets a path before a call; the call itself if none does."""
    sets = [
        use for use in uses if isinstance(getattr(use, "ctx", None), ast.Store) and _start(use) < _start(call)
    ]
    return around.statement(max(sets, key=_start)) if sets else call


def _is_of_new_parts(made: ast.AST | None, places: Places, around: SyntaxContext) -> bool:
    """Return whether an expression is a call without a part, as an argument, that the function moves by its name."""
    if not isinstance(made, ast.Call):
        return False
    paths = {around.text.bare_text_of(each) for each in ast.walk(made) if is_path(each)}
    return not any(_method_of(use, around) in _MOVES for path in paths for use in places[path])


def _leaves(use: ast.AST, around: SyntaxContext) -> bool:
    """Return whether a use of a module leaves it where it is: the read of an attribute, or the call of such a method."""
    read: ast.AST = use
    while isinstance(holder := around.parent(read), ast.Attribute):
        read = holder
    is_called = isinstance(holder, ast.Call) and holder.func is read
    return read is not use and (not is_called or getattr(read, "attr", "") in _STAYS | _READS)


def _method_of(use: ast.AST, around: SyntaxContext) -> str:
    """Return the method that an expression calls on a path, or ""."""
    holder = around.parent(use)
    caller = around.parent(holder) if isinstance(holder, ast.Attribute) else None
    is_called = isinstance(caller, ast.Call) and caller.func is holder
    return holder.attr if is_called and isinstance(holder, ast.Attribute) else ""


def _loops(node: ast.AST, around: SyntaxContext) -> list[ast.AST]:
    return [each for each in around.up(node) if isinstance(each, _LOOPS)]


def _start(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _end(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0)

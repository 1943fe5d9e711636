"""The choice of a suggestion for a read from the GPU, by the site of the read."""

from __future__ import annotations

import ast

from syncscan.rule import Facts

from ._shared import call_around
from ._suggestions import suggest

# The arguments that torch takes from the GPU where they are tensors, as measured.
_TAKES_TENSOR = frozenset({"torch.Tensor.fill_", "torch.Tensor.clamp", "torch.Tensor.clamp_", "torch.clamp"})
_LOGS = {"log", "info", "debug", "warning", "print", "add_scalar", "set_postfix", "record", "write"}
_LONGEST = 40


def of_a_number(node: ast.AST, tensor: ast.AST | None, facts: Facts) -> str:
    """Return the suggestion for a tensor of one element that becomes a number; "" where only the general one fits."""
    call = call_around(node, facts)
    if call is not None and facts.name_of(call.func) in _TAKES_TENSOR:
        name = facts.name_of(call.func).rpartition(".")[2]
        return suggest("fill") if name == "fill_" else suggest("takes-tensor", operation=name)
    if facts.raises(node):
        return suggest("asserted")
    return of_rounds(node, tensor, facts) if facts.in_loop(node) else ""


def of_many(node: ast.AST, tensor: ast.AST, facts: Facts) -> str:
    """Return the suggestion for a whole tensor that is copied to the host."""
    if facts.in_loop(node):
        return of_rounds(node, tensor, facts)
    return suggest("at-once") if facts.used_at_once(node) else ""


def of_rounds(node: ast.AST, tensor: ast.AST | None, facts: Facts) -> str:
    """Return the suggestion for a read in each iteration, of a tensor created before or inside the loop."""
    if not facts.made_in_loop(node):
        return suggest("list-before-loop")
    if isinstance(facts.statement(node), ast.AugAssign):
        return suggest("sum")
    call, name = call_around(node, facts), _source_of(tensor, facts)
    if name and call is not None and isinstance(call.func, ast.Attribute) and call.func.attr == "append":
        return suggest("append", tensor=name, list=facts.source(call.func.value))
    return suggest("log", tensor=name) if name and _is_logged(node, facts) else suggest("round-later")


def _is_logged(node: ast.AST, facts: Facts) -> bool:
    """Return whether a node is in the arguments of a call that logs or prints."""
    around: ast.AST | None = node
    while around is not None:
        if isinstance(around, ast.Call) and around is not node and _last_name(around.func) in _LOGS:
            return True
        around = facts.parent(around)
    return False


def _last_name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _source_of(tensor: ast.AST | None, facts: Facts) -> str:
    """Return the text of a tensor if the text is short enough for a suggestion, else ""."""
    text = facts.source(tensor) if tensor is not None else ""
    return text if len(text) <= _LONGEST and "\n" not in text else ""

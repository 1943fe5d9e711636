"""The code that runs while a copy is under way that the host does not block on."""

from __future__ import annotations

import ast
from collections.abc import Callable

from syncscan.model import Kind
from syncscan.rule import Facts
from syncscan.syntax.source_text import nodes_of

Touch = Callable[[ast.AST, Facts], bool]

# Calls of torch.cuda that never block; all others may.
_QUEUE = frozenset({"record", "record_stream", "current_stream", "Event", "Stream", "current_device"})
_CONTAINERS = frozenset({Kind.LIST, Kind.TUPLE, Kind.DICT, Kind.SET, Kind.STRING, Kind.NUMBER, Kind.SLICE})
_MAY_DO_ANYTHING = (ast.Await, ast.Yield, ast.YieldFrom, ast.Lambda, ast.With, ast.AsyncWith)
_ENDS = (ast.Return, ast.Raise, ast.Break, ast.Continue, ast.Delete)


def first_touch(node: ast.AST, facts: Facts, touches: Touch, path: str) -> int | None:
    """Return the line that first touches a value while the copy of ``node`` may be under way; None if none does.

    ``path`` is the name of the value. The search ends at the first call that may block, which is every call that is not
    known to return at once.
    """
    for statement, there in facts.behind(node):
        inside = list(nodes_of(statement))
        touching = [each for each in inside if touches(each, there)]
        own = {id(part) for one in touching for part in nodes_of(one)}
        if any(id(each) not in own and may_block(each, there) for each in inside):
            return None
        if touching:
            return there.line(touching[0])
        if isinstance(statement, _ENDS) or _binds(statement, path, there):
            return None
        if (
            isinstance(statement, (ast.For, ast.AsyncFor))
            and there.of(statement.iter).kind not in _CONTAINERS
        ):
            return None
    return None


def may_block(node: ast.AST, facts: Facts) -> bool:
    """Return whether a node may block: a call of an unknown function may, and so may a property that blocks."""
    if isinstance(node, _MAY_DO_ANYTHING) or facts.blocks(node) is not None:
        return True
    if isinstance(node, ast.Attribute):
        return facts.wait_inside(node) is not None
    if not isinstance(node, ast.Call):
        return False
    name = facts.name_of(node.func)
    if name.startswith(("torch.cuda.", "torch.accelerator.", "torch.distributed.", "torch.ops.")):
        return name.rpartition(".")[2] not in _QUEUE
    if name:
        return False
    receiver = node.func.value if isinstance(node.func, ast.Attribute) else None
    return receiver is None or facts.of(receiver).kind not in _CONTAINERS


def _binds(statement: ast.AST, path: str, facts: Facts) -> bool:
    """Return whether a statement binds a name to another value."""
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, (ast.AnnAssign, ast.AugAssign, ast.For, ast.AsyncFor)):
        targets = [statement.target]
    else:
        return False
    inside = [each for target in targets for each in nodes_of(target)]
    return any(isinstance(each, (ast.Name, ast.Attribute)) and facts.source(each) == path for each in inside)


def distance(line: int, node: ast.AST, facts: Facts) -> str:
    """Return how far a line is from a node, which stays as it is where lines move: "2 lines below"."""
    count = line - facts.line(node)
    if count == 0:
        return "on the same line"
    return f"{abs(count)} line{'s' if abs(count) > 1 else ''} {'below' if count > 0 else 'above'}"

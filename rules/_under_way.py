"""What happens while a copy is under way that the host does not wait for."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from syncscan.model import Kind
from syncscan.rule import Facts
from syncscan.surroundings import nodes_of

Touch = Callable[[cst.CSTNode, Facts], bool]

# Calls of torch.cuda that wait for nothing; all others may.
_QUEUE = frozenset({"record", "record_stream", "current_stream", "Event", "Stream", "current_device"})
_CONTAINERS = frozenset({Kind.LIST, Kind.TUPLE, Kind.DICT, Kind.SET, Kind.STRING, Kind.NUMBER, Kind.SLICE})
_ENDS = (cst.Return, cst.Raise, cst.Break, cst.Continue, cst.Del)


def first_touch(node: cst.CSTNode, facts: Facts, touches: Touch, path: str) -> int | None:
    """The line that first touches a value while the copy in the statement of ``node`` may be under way; None if none does.

    ``path`` is the name of the value. Looked at is what runs next, up to what may wait for the GPU, which is every call that is
    not known not to.
    """
    for statement, there in facts.behind(node):
        inside = list(nodes_of(statement))
        touching = [each for each in inside if touches(each, there)]
        own = {id(part) for one in touching for part in nodes_of(one)}
        if any(id(each) not in own and may_wait(each, there) for each in inside):
            return None
        if touching:
            return there.line(touching[0])
        if isinstance(statement, _ENDS) or _binds(statement, path, there):
            return None
        if isinstance(statement, cst.For) and there.of(statement.iter).kind not in _CONTAINERS:
            return None
    return None


def may_wait(node: cst.CSTNode, facts: Facts) -> bool:
    """Whether a node may wait for the GPU, as far as is known: a call of something unknown may, and so may a property that does."""
    if isinstance(node, (cst.Await, cst.Yield, cst.Lambda, cst.With)) or facts.blocks(node) is not None:
        return True
    if isinstance(node, cst.Attribute):
        return facts.wait_inside(node) is not None
    if not isinstance(node, cst.Call):
        return False
    name = facts.name_of(node.func)
    if name.startswith(("torch.cuda.", "torch.accelerator.", "torch.distributed.", "torch.ops.")):
        return name.rpartition(".")[2] not in _QUEUE
    if name:
        return False
    receiver = node.func.value if isinstance(node.func, cst.Attribute) else None
    return receiver is None or facts.of(receiver).kind not in _CONTAINERS


def _binds(statement: cst.CSTNode, path: str, facts: Facts) -> bool:
    """Whether a statement gives a name another value."""
    if isinstance(statement, cst.Assign):
        targets: list[cst.CSTNode] = [target.target for target in statement.targets]
    elif isinstance(statement, (cst.AnnAssign, cst.AugAssign, cst.For)):
        targets = [statement.target]
    else:
        return False
    inside = [each for target in targets for each in nodes_of(target)]
    return any(facts.source(each) == path for each in inside)

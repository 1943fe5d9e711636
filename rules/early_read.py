"""A `non_blocking` copy to the host is read before any synchronization, and holds whatever was there before.

`t.to("cpu", non_blocking=True)` returns at once, while the GPU still works on what was queued before the copy. Its result is
valid after a synchronization with an event behind the copy, the stream or the device. Until then `item()`, `tolist()`, `if`,
arithmetic and copies on the host read garbage. The read succeeds if the GPU happens to be done.

**Stays silent** if anything between the copy and the read may synchronize: any call that is not known not to. So the rule
reads the statement itself and those behind it, up to the first such call. Values that are returned, stored or passed on are not reported.

**No rewrite.** Record an event behind the copy, and synchronize the event right before the read, with other work in between. If the value is
needed at once, leave `non_blocking=True` out.
"""

from __future__ import annotations

import ast

from syncscan.model import Kind, Value
from syncscan.ops import Effect
from syncscan.rule import Example, Facts, Match, Rule

from ._shared import call_around, gpu_operand, shown
from ._under_way import distance, first_touch

# Operations that return the same memory in another form, and read no element.
_VIEWS = frozenset(
    {
        *(
            "numpy",
            "view",
            "reshape",
            "squeeze",
            "unsqueeze",
            "flatten",
            "detach",
            "unbind",
            "split",
            "chunk",
        ),
        *("transpose", "permute", "expand", "narrow", "select", "view_as", "unflatten", "t"),
    }
)
# Attributes that the host reads without the tensor's elements.
_QUERIES = frozenset(
    {
        *("size", "dim", "numel", "ndimension", "element_size", "stride", "is_contiguous", "is_pinned"),
        *("data_ptr", "record_stream", "nelement", "storage_offset", "is_floating_point", "get_device"),
    }
)
_READING = frozenset(
    {f"builtins.{name}" for name in ("int", "float", "bool", "complex", "print", "str", "repr", "sum")}
)


class EarlyRead(Rule):
    code = "SYN601"
    name = "early-read"
    summary = "a `non_blocking` copy to the host is read before any synchronization"
    instead = "record an event after the copy and synchronize the event before the read; without `non_blocking`, the copy itself blocks"
    nodes = (ast.Call,)
    is_wait = False
    examples = (
        Example(
            bad="""\
import torch

done = torch.zeros(8, dtype=torch.bool, device="cuda")
if done.any().to("cpu", non_blocking=True):  # expect: SYN601
    print("done")
"""
        ),
        Example(
            bad="""\
import torch

lens = torch.zeros(8, device="cuda")
host = lens.to("cpu", non_blocking=True)  # expect: SYN601
half = lens * 0.5
longest = host.max()
staging = torch.empty(8, pin_memory=True)
staging.copy_(lens, non_blocking=True)  # expect: SYN601
first = staging[:2].tolist()
"""
        ),
        Example(
            good="""\
import torch

lens = torch.zeros(8, device="cuda")
host = lens.to("cpu", non_blocking=True)
copied = torch.cuda.Event()
copied.record()
longest = lens.max()
while not copied.query():
    pass
print(host.max())
"""
        ),
        Example(
            good="""\
import torch


class Output:
    def __init__(self, lens: torch.Tensor) -> None:
        self.host = lens.to("cpu", non_blocking=True).numpy()
        self.copied = torch.cuda.Event()
        self.copied.record()


def last(lens: torch.Tensor) -> torch.Tensor:
    host = lens.to("cpu", non_blocking=True)
    wait_for(lens)
    return host[-1] + 1


def wait_for(lens: torch.Tensor) -> None:
    torch.cuda.current_stream(lens.device)
"""
        ),
    )

    def match(self, node: ast.AST, facts: Facts) -> Match | None:
        case = facts.queued(node)
        if not isinstance(node, ast.Call) or case is None or case.effect is not Effect.DOWNLOAD:
            return None
        line = facts.line(node) if _is_read(node, facts) else _read_behind(node, facts)
        if line is None:
            return None
        where = "at once" if line == facts.line(node) else distance(line, node, facts)
        message = (
            f"{shown(node, facts)} is read {where} before any synchronization: the copy may be unfinished"
        )
        return Match(node, message, because=gpu_operand(node, facts))


def _read_behind(call: ast.Call, facts: Facts) -> int | None:
    """Return the line that reads the variable assigned from a copy, or the copy's destination."""
    path = _name_of_copy(call, facts)
    if path is None:
        return None

    def reads(node: ast.AST, there: Facts) -> bool:
        if not isinstance(node, (ast.Name, ast.Attribute)) or there.source(node) != path:
            return False
        return _is_read(node, there)

    return first_touch(call, facts, reads, path)


def _name_of_copy(call: ast.Call, facts: Facts) -> str | None:
    """Return the name of the copy from here on; None where the copy has none."""
    around = facts.parent(call)
    into = facts.argument(call, "input")
    if facts.argument(call, "src") is not None and into is not None:
        return _whole(into, facts) if isinstance(around, ast.Expr) else None
    if isinstance(around, ast.Assign) and len(around.targets) == 1:
        target = around.targets[0]
        return facts.source(target) if isinstance(target, (ast.Name, ast.Attribute)) else None
    return None


def _whole(node: ast.expr, facts: Facts) -> str | None:
    """Return the name of a buffer, for the buffer or a part."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return facts.source(node) if isinstance(node, (ast.Name, ast.Attribute)) else None


def _is_read(node: ast.AST, facts: Facts) -> bool:
    """Return whether the expression around a host tensor reads an element."""
    around = facts.parent(node)
    if around is None or around is facts.statement(node):
        return _is_read_by(facts.statement(node), node, facts)
    if isinstance(around, ast.Attribute) and around.value is node:
        return _is_read_through(around, facts)
    if isinstance(around, ast.Subscript) and around.value is node:
        return facts.of(around).kind is Kind.NUMBER or _is_read(around, facts)
    call = call_around(node, facts)
    if call is not None:
        return facts.name_of(call.func) in _READING
    if isinstance(around, ast.Compare):
        return not _asks_for_none(around)
    return isinstance(around, (ast.UnaryOp, ast.BinOp, ast.BoolOp)) or (
        isinstance(around, ast.IfExp) and around.test is node
    )


def _is_read_through(attribute: ast.Attribute, facts: Facts) -> bool:
    """Return whether an attribute of a host tensor, called or not, reads an element."""
    name, call = attribute.attr, facts.parent(attribute)
    if not isinstance(call, ast.Call) or call.func is not attribute:
        return name in {"T", "mT", "data"} and _is_read(attribute, facts)
    if name in _VIEWS:
        return _is_read(call, facts)
    is_read = name not in _QUERIES and facts.queued(call) is None
    return is_read and facts.name_of(call.func).startswith("torch.Tensor.")


def _is_read_by(statement: ast.AST, node: ast.AST, facts: Facts) -> bool:
    """Return whether a statement reads the whole of an expression inside."""
    if isinstance(statement, (ast.If, ast.While, ast.Assert)):
        return statement.test is node
    if isinstance(statement, (ast.For, ast.AsyncFor)):
        return statement.iter is node
    if isinstance(statement, ast.Assign) and statement.value is node:
        return any(
            isinstance(each, ast.Subscript) and _is_on_host(facts.of(each.value))
            for each in statement.targets
        )
    return False


def _is_on_host(value: Value) -> bool:
    return value.is_cpu_tensor or value.kind is Kind.NDARRAY


def _asks_for_none(node: ast.Compare) -> bool:
    compared = (node.left, *node.comparators)
    return any(isinstance(each, ast.Is) for each in node.ops) or any(
        isinstance(each, ast.Constant) and each.value is None for each in compared
    )

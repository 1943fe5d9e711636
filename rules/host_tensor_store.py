"""Assigning a CPU tensor into a GPU tensor copies the CPU tensor to the GPU, which blocks the CPU.

`x[:, 0] = cpu_tensor` is a `copy_` without `non_blocking=True`, from pinned memory too.

**Stays silent** on

- a value that is a GPU tensor;
- a number (see SYN306 for those that block);
- a CPU tensor of no dimensions that fills more than one element, which is a fill;
- two sides in host memory;
- a value on which the statement itself calls `.cpu()`.

**Fix**: from pinned memory, `x[:n] = pinned` becomes `x[:n].copy_(pinned, non_blocking=True)`, where the
index is made of integers and slices and so gives a view. It is unsafe: the host must not write the pinned
memory again before the copy is done, and the index is evaluated before the value. From pageable memory, pin first.
"""

import ast
from collections.abc import Sequence

from syncscan.model import Applicability
from syncscan.ops import Effect
from syncscan.rule import Example, Facts, Match, Rewrite, Rule
from syncscan.syntax.stores import stores_in

from ._code import CallCode, method_call
from ._shared import anchor_of_store, doubted, gives_a_view, index_elements, keywords_of, shown, stored_value
from ._suggestions import suggest

_FACTORIES = frozenset({"zeros", "ones", "empty", "full", "arange", "eye"})


class HostTensorStore(Rule):
    code = "SYN307"
    name = "host-tensor-store"
    summary = "a CPU tensor is assigned into a GPU tensor"
    instead = "use `x[...].copy_(pinned, non_blocking=True)`"
    nodes = (ast.Assign, ast.For)
    examples = (
        Example(
            bad="""\
import torch

table = torch.zeros((8, 4), device="cuda")
column = torch.ones(8)
table[:, 0] = column  # expect: SYN307
"""
        ),
        Example(
            bad="""\
import torch

table = torch.zeros((8, 4), device="cuda")
column = torch.ones(8, pin_memory=True)
table[:, 0] = column  # expect: SYN307
""",
            fixed="""\
import torch

table = torch.zeros((8, 4), device="cuda")
column = torch.ones(8, pin_memory=True)
table[:, 0].copy_(column, non_blocking=True)
""",
        ),
        Example(
            good="""\
import torch

table = torch.zeros((8, 4), device="cuda")
column = torch.ones(8, pin_memory=True)
table[:, 0] = column.to("cuda", non_blocking=True)
table[:, 1].copy_(column, non_blocking=True)
host = torch.zeros((8, 4))
host[:, 0] = column
"""
        ),
    )

    def match(self, node: ast.AST, facts: Facts) -> Sequence[Match]:
        matches = (_match_store(place, value, node, facts) for place, value in stores_in(node))
        return [match for match in matches if match is not None]


def _match_store(place: ast.Subscript, written: ast.expr | None, node: ast.AST, facts: Facts) -> Match | None:
    value = stored_value(place, written, facts)
    if not value.is_cpu_tensor or _is_download(written):  # nobody writes that for a tensor on the GPU
        return None
    case = facts.blocks(place)
    if case is None or case.effect is not Effect.UPLOAD:
        return None
    what = "a CPU tensor" if written is None else shown(written, facts)
    message = f"Storing {what} copies host memory to the GPU, which blocks the CPU"
    because = doubted(facts.of(place.value), value)
    anchor = anchor_of_store(place, node)
    return Match(anchor, message, because, _hint(written, place, facts), _rewrite(anchor, place, facts))


def _is_download(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "cpu"


def _hint(value: ast.expr | None, place: ast.Subscript, facts: Facts) -> str:
    """Return the suggestion for what a factory makes on the spot, to be made on the GPU; "" for other values."""
    name = facts.name_of(value.func).removeprefix("torch.") if isinstance(value, ast.Call) else ""
    if not isinstance(value, ast.Call) or name not in _FACTORIES or "device" in keywords_of(value):
        return ""
    made = CallCode(value, facts).with_argument("device", f"{facts.source(place.value)}.device").text()
    return "" if "\n" in made else suggest("made-with-device", made=made)


def _rewrite(node: ast.AST, place: ast.Subscript, facts: Facts) -> Rewrite | None:
    if (
        not isinstance(node, ast.Assign)
        or len(node.targets) != 1
        or not gives_a_view(place, facts)
        or facts.of(node.value).pinned is not True
    ):
        return None
    left, given = _dims_left(place, facts), facts.of(node.value).ndim
    if left is None or given is None or given > left:
        return None  # a store drops leading dimensions of one, and `copy_` does not
    copy = method_call(place, "copy_", facts.source(node.value), "non_blocking=True", facts=facts)
    return Rewrite(node, copy, "copy without blocking", Applicability.UNSAFE)


def _dims_left(place: ast.Subscript, facts: Facts) -> int | None:
    """Return the number of dimensions of a part that integers and slices select, where known."""
    dims = facts.of(place.value).ndim
    return dims - len(index_elements(place)) if dims is not None else None

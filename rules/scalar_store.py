"""A Python number stored through an index tensor, or in a single element, is uploaded, which blocks the CPU.

`x[idx] = 0.0` makes a tensor of the number in pageable memory and copies it to the GPU for `index_put_`. A
store into one element, `t[i] = 1` of a tensor with one dimension, is a copy of that tensor too.

**Stays silent** on

- stores that are a fill: `x[0] = 1.0` of a row, `x[:n] = 0`, `x[mask] = 0.0` with a GPU mask;
- stores of a GPU tensor;
- tensors in host memory;
- literals in functions that only run compiled.

**Fix.** `t[i] = v` becomes `t[i].fill_(v)`: the same store, launched on the GPU. The fix is safe if `t` is surely a
tensor, `i` an integer, and `v` an integer written out from -127 to 127. Such a `v` is the same for every dtype. The fix is unsafe for
a float from 0 to 127, since `torch.float8_e8m0fnu` has no fill with 0.0. For other numbers there is no rewrite: the GPU refuses to fill with a
number that does not fit, and a store makes it infinite. `x[idx] = v` becomes `x.index_fill_(0, idx.long(), v)` where `idx` has one dimension;
`index_fill_` takes indices of type int64 only, of which `long()` makes no copy, and no float8 tensor.
"""

import ast
from collections.abc import Sequence

from syncscan.model import Applicability, Kind
from syncscan.ops import Effect
from syncscan.rule import Example, Facts, Match, Rewrite, Rule
from syncscan.syntax.stores import stores_in

from ._code import method_call
from ._constants import is_constant
from ._numbers import fits_any_dtype, stores_exactly
from ._parts import is_path, line_of
from ._shared import (
    anchor_of_store,
    as_operand,
    certain,
    doubted,
    gives_a_view,
    index_elements,
    index_parts,
    shown,
    stored_value,
)
from ._suggestions import suggest


class ScalarStore(Rule):
    code = "SYN306"
    name = "scalar-store"
    summary = "a Python number is stored through an index tensor or in one element"
    instead = "use `x.index_fill_(0, idx.view(-1), v)`, or `t[i].fill_(v)` for one element"
    nodes = (ast.Assign, ast.For)
    examples = (
        Example(
            bad="""\
import torch

counts = torch.zeros(8, device="cuda")
counts[3] = 1.0  # expect: SYN306
table = torch.zeros((8, 4), device="cuda")
table[2, 1] = 5  # expect: SYN306
""",
            fixed="""\
import torch

counts = torch.zeros(8, device="cuda")
counts[3].fill_(1.0)
table = torch.zeros((8, 4), device="cuda")
table[2, 1].fill_(5)
""",
        ),
        Example(
            bad="""\
import torch

table = torch.zeros((8, 4), device="cuda")
rows = torch.arange(3, device="cuda")
table[rows] = 0.0  # expect: SYN306
""",
            fixed="""\
import torch

table = torch.zeros((8, 4), device="cuda")
rows = torch.arange(3, device="cuda")
table.index_fill_(0, rows.long(), 0.0)
""",
        ),
        Example(
            bad="""\
import torch

table = torch.zeros((8, 4), device="cuda")
rows = torch.arange(3, device="cuda")
table[rows, 0] = 1.0  # expect: SYN306
table[torch.ones(8) > 0] = 1.0  # expect: SYN306
"""
        ),
        Example(
            good="""\
import torch

table = torch.zeros((8, 4), device="cuda")
rows = torch.arange(3, device="cuda")
table[0] = 1.0
table[:3] = 0
table[table > 0] = 0.0
table[rows] = table[rows]
table.index_fill_(0, rows, 0.0)
counts = torch.zeros(8, device="cuda")
counts[:1] = 1.0
counts[3].fill_(1.0)
"""
        ),
        Example(
            good="""\
import torch

counts = torch.zeros(8)
counts[3] = 1.0
counts[torch.arange(3)] = 0.0
"""
        ),
    )

    def match(self, node: ast.AST, facts: Facts) -> Sequence[Match]:
        matches = (_match_store(place, value, node, facts) for place, value in stores_in(node))
        return [match for match in matches if match is not None]


def _match_store(place: ast.Subscript, written: ast.expr | None, node: ast.AST, facts: Facts) -> Match | None:
    is_number = stored_value(place, written, facts).kind is Kind.NUMBER
    if not is_number or not _is_uploaded(place, facts):
        return None
    what = "a number" if written is None else shown(written, facts)
    message = f"Storing {what} in a CUDA tensor copies the number to the GPU and blocks the CPU"
    because = doubted(facts.of(place.value), *map(facts.of, index_elements(place)))
    anchor = anchor_of_store(place, node)
    return Match(
        anchor,
        message,
        because,
        "" if written is None else _hint(written, place, facts),
        _rewrite(anchor, place, facts),
        folds=written is not None and is_constant(written),
    )


def _is_uploaded(place: ast.Subscript, facts: Facts) -> bool:
    """Return whether the store uploads, and not because of an index in host memory (SYN305)."""
    case = facts.blocks(place)
    if case is None or case.effect is not Effect.UPLOAD:
        return False
    indices = [facts.of(element) for element in index_elements(place)]
    return not any(
        index.is_host_data and index.kind is not Kind.NUMBER and not index.is_mask for index in indices
    )


def _hint(written: ast.expr, place: ast.Subscript, facts: Facts) -> str:
    """Return the suggestion for a view, for rows, or for elements that several indices select; "" for a mask."""
    value, parts = facts.source(written), index_elements(place)
    if parts and gives_a_view(place, facts):
        return suggest("fill-element", place=facts.source(place), value=value)
    if len(index_parts(place)) > 1:
        tensor, placed = line_of(place.value, facts), line_of(place, facts)
        if not is_path(place.value) or not placed or "\n" in value:
            return suggest("store-any")
        return suggest("store", place=placed, value=value, tensor=tensor)
    index = facts.of(parts[0]) if parts else None
    if index is None or index.dtype != "int" or index.ndim != 1:
        return ""
    return suggest(
        "fill-rows", tensor=facts.source(place.value), index=as_operand(parts[0], facts), value=value
    )


def _rewrite(node: ast.AST, place: ast.Subscript, facts: Facts) -> Rewrite | None:
    indices = [facts.of(element) for element in index_elements(place)]
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return None
    if len(index_parts(place)) != len(indices) or not fits_any_dtype(node.value):
        return None
    if gives_a_view(place, facts) and all(index.dtype == "int" for index in indices):
        fill = method_call(place, "fill_", facts.source(node.value), facts=facts)
        applicability = certain(stores_exactly(node.value), facts.of(place.value))
        return Rewrite(node, fill, "fill the element on the GPU", applicability)
    if len(indices) == 1 and indices[0].is_gpu and indices[0].ndim == 1 and indices[0].dtype == "int":
        index = method_call(index_elements(place)[0], "long", facts=facts)
        fill = method_call(place.value, "index_fill_", "0", index, facts.source(node.value), facts=facts)
        return Rewrite(node, fill, "fill the rows on the GPU", Applicability.UNSAFE)
    return None

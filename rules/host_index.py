"""Indexing a GPU tensor with a list, a NumPy array or a CPU index tensor uploads the index, which blocks the CPU.

torch makes the index a tensor in pageable memory. The copy to the GPU synchronizes the stream, for reads and
for assignments.

**Stays silent** on

- integers, slices and `None`, which are views without a copy;
- an index tensor on the GPU;
- a mask in host memory that is read (`x[cpu_mask]`);
- a tensor in host memory;
- a list of literals in functions that only run compiled.

**No rewrite.** Keep the index on the GPU. If it comes from the host each step, upload it from pinned memory
with `non_blocking=True`. Neighbouring rows are a slice; a fixed short list is `torch.stack((x[1], x[2]))`.
"""

import ast

from syncscan.model import Kind, Value
from syncscan.ops import Effect
from syncscan.rule import Example, Facts, Match, Rule

from ._constants import is_constant
from ._parts import is_handled_by_element
from ._shared import deciding, index_elements, shown
from ._suggestions import suggest

_HOST_KINDS = {Kind.LIST, Kind.NDARRAY, Kind.TUPLE}


class HostIndex(Rule):
    code = "SYN305"
    name = "host-index"
    summary = "a GPU tensor is indexed with data in host memory"
    instead = "keep the index on the GPU, or copy the index from pinned memory with `non_blocking=True`"
    nodes = (ast.Subscript,)
    examples = (
        Example(
            bad="""\
import numpy as np
import torch

rows = torch.zeros((8, 4), device="cuda")
some = rows[[1, 2]]  # expect: SYN305
more = rows[np.array([1, 2])]  # expect: SYN305
order = torch.arange(8)
last = rows[order, 0]  # expect: SYN305
"""
        ),
        Example(
            bad="""\
import torch

rows = torch.zeros((8, 4), device="cuda")
wanted = [1, 2]
rows[wanted] = 0.0  # expect: SYN305
"""
        ),
        Example(
            good="""\
import torch

rows = torch.zeros((8, 4), device="cuda")
some = rows[1:3]
both = torch.stack((rows[1], rows[2]))
index = torch.tensor([1, 2], pin_memory=True).to("cuda", non_blocking=True)
more = rows[index]
row = rows[0, None, ..., 1]
"""
        ),
        Example(
            good="""\
import torch

rows = torch.zeros((8, 4))
some = rows[[1, 2]]
kept = torch.zeros(8, device="cuda")[torch.ones(8) > 0]
"""
        ),
    )

    def match(self, node: ast.AST, facts: Facts) -> Match | None:
        if not isinstance(node, ast.Subscript):
            return None
        case = facts.blocks(node)
        if case is None or case.effect is not Effect.UPLOAD:
            return None
        for element in index_elements(node):
            value = facts.of(element)
            if _is_uploaded(value) and not _may_be_number(element, value, facts):
                message = f"Uploading the index {shown(element, facts)} from host memory blocks the CPU"
                is_mask = value.is_mask or _are_booleans(element)
                hint = suggest("index-mask") if is_mask else _hint(element, value, facts)
                because = deciding(value, facts.of(node.value))
                return Match(node, message, because, hint, folds=is_constant(element))
        return None


def _hint(index: ast.expr, value: Value, facts: Facts) -> str:
    if isinstance(index, ast.List):
        numbers = [number for number in map(_literal, index.elts) if number is not None]
        if 0 < len(numbers) == len(index.elts):
            return _of_numbers(numbers)
        if len(index.elts) == 1 and facts.of(index.elts[0]).kind is Kind.NUMBER:
            row = facts.source(index.elts[0])
            return suggest("slice", slice=f"{row}:{row} + 1")
    is_whole = not isinstance(index, ast.Name) or not is_handled_by_element(index.id, index, facts)
    if value.is_cpu_tensor and value.evidence and is_whole:
        return suggest("made-here")
    text = facts.source(index)
    is_own = isinstance(index, ast.Attribute) and text.count(".") == 1 and text.startswith("self.")
    return suggest("index-buffer" if is_own else "index-upload", index=text)


def _are_booleans(index: ast.expr) -> bool:
    """Return whether an index is a list of literal booleans."""
    elements = index.elts if isinstance(index, ast.List) else []
    return bool(elements) and all(
        isinstance(each, ast.Constant) and type(each.value) is bool for each in elements
    )


def _literal(node: ast.expr) -> int | None:
    """Return the integer that a node writes out, with its sign."""
    inner = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else node
    value = inner.value if isinstance(inner, ast.Constant) else None
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if inner is node else -value


def _of_numbers(numbers: list[int]) -> str:
    """Return the suggestion for literal row numbers: a slice for rows in even steps."""
    step = numbers[1] - numbers[0] if len(numbers) > 1 else 1
    end = numbers[-1] + 1
    if step > 0 and numbers == list(range(numbers[0], end, step)) and (numbers[0] < 0) is (end <= 0):
        return suggest("slice", slice=f"{numbers[0]}:{end or ''}{f':{step}' if step > 1 else ''}")
    return suggest("rows")


def _may_be_number(index: ast.expr, value: Value, facts: Facts) -> bool:
    """Return whether an index is an element of a NumPy array that may have one dimension: a number, which is not uploaded."""
    if not isinstance(index, ast.Subscript) or facts.of(index.slice).kind is not Kind.NUMBER:
        return False
    return facts.of(index.value).kind is Kind.NDARRAY and value.ndim is None


def _is_uploaded(value: Value) -> bool:
    if value.is_cpu_tensor:
        return not value.is_mask and value.ndim != 0
    return bool(value.options) and all(option.kind in _HOST_KINDS for option in value.options)

"""What the code of a function shows a parameter to be by the way it uses it."""

from __future__ import annotations

import ast

from syncscan.check.infer.source.index import Function
from syncscan.check.infer.source.syntax import dotted_name, walk

# What neither NumPy arrays, modules nor Python's own objects have.
_OF_TENSORS = frozenset(
    {"is_cuda", "is_floating_point", "is_sparse", "unsqueeze", "new_zeros", "new_ones", "new_tensor", "new_empty", "new_full",
     "masked_fill", "masked_select", "index_select", "logical_not", "isnan", "isfinite", "abs", "clamp", "long", "numel",
     "element_size", "data_ptr", "requires_grad_", "is_contiguous", "topk", "cumsum", "scatter_", "zero_", "fill_", "mul_", "add_"}
)  # fmt: skip
_TAKE_TENSORS = frozenset(
    {"abs", "all", "any", "argmax", "argsort", "bincount", "clamp", "cumsum", "diff", "empty_like", "exp", "flatten", "full_like",
     "is_complex", "is_floating_point", "isfinite", "isinf", "isnan", "log", "max", "mean", "min", "nonzero", "norm", "ones_like",
     "sigmoid", "softmax", "sort", "sqrt", "square", "sum", "unique", "zeros_like"}
)  # fmt: skip


def used_as_tensors(function: Function) -> frozenset[str]:
    """The parameters that only a tensor can be: a method of tensors alone is called on them, or torch takes them."""
    if isinstance(function.node, ast.Lambda):  # which its own file calls, and which may nest deeply
        return frozenset()
    names = {parameter.name for parameter in function.parameters if not parameter.star}
    found: set[str] = set()
    for node in walk(function.node):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in _OF_TENSORS:
            found.add(node.value.id)
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Name):
            owner, _, name = dotted_name(node.func).rpartition(".")
            if owner == "torch" and name in _TAKE_TENSORS:
                found.add(node.args[0].id)
    return frozenset(found & names)

"""Evidence about a parameter from its uses in the function body."""

from __future__ import annotations

import ast
from collections.abc import Callable

from syncscan.check.infer.source.index import NO_NAMES, Function
from syncscan.check.infer.source.syntax import dotted_name, last_name, walk

Predicate = Callable[[str], bool]

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


_OF_ARRAYS = frozenset({"shape", "device", "dtype", "ndim", "T", "mT", "is_cuda", "requires_grad"})
_FUNCTIONAL = frozenset({"torch", "F", "functional", "nn.functional", "torch.nn.functional"})


def handled_as_tensors(function: Function, is_method: Predicate, takes_tensor: Predicate) -> frozenset[str]:
    """Return the parameters of a module's method that are probably tensors, by attributes they share with arrays, or by torch calls.

    ``is_method`` tests for names of tensor methods. ``takes_tensor`` tests for torch functions with a tensor
    as first parameter.
    """
    names = {parameter.name for parameter in function.parameters if not parameter.star}
    found: set[str] = set()
    for node in walk(function.node):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in _OF_ARRAYS:
            found.add(node.value.id)
        if not isinstance(node, ast.Call):
            continue
        owner, _, name = dotted_name(node.func).rpartition(".")
        if owner in names and is_method(name):
            found.add(owner)
        elif owner in _FUNCTIONAL and node.args and isinstance(node.args[0], ast.Name) and takes_tensor(name):
            found.add(node.args[0].id)
    return frozenset(found & names) or NO_NAMES


def used_as_tensors(function: Function) -> frozenset[str]:
    """Return the parameters that must be tensors: the body calls a tensor-only method on them, or passes them to torch."""
    if isinstance(function.node, ast.Lambda):  # which its own file calls, and which may nest deeply
        return NO_NAMES
    names = {parameter.name for parameter in function.parameters if not parameter.star}
    found: set[str] = set()
    for node in walk(function.node):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in _OF_TENSORS:
            found.add(node.value.id)
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Name):
            owner, _, name = dotted_name(node.func).rpartition(".")
            if owner == "torch" and name in _TAKE_TENSORS:
                found.add(node.args[0].id)
    return frozenset(found & names) or NO_NAMES


def chosen_by_text(function: Function) -> frozenset[str]:
    """Return the parameters of a private function that the body compares to a text or passes to a private function.

    All callers of a private function are in the project. A text that none of them passes therefore never
    occurs.
    """
    if not _is_private(function.name) or function.owner is not None:
        return NO_NAMES
    names = {parameter.name for parameter in function.parameters if not parameter.star}
    found: set[str] = set()
    for node in walk(function.node):
        if compared := compared_text(node):
            found.add(compared[0].id)
        elif isinstance(node, ast.Call) and _is_private(last_name(node.func)):
            given = (*node.args, *(keyword.value for keyword in node.keywords))
            found.update(each.id for each in given if isinstance(each, ast.Name))
    return frozenset(found & names) or NO_NAMES


def compared_text(node: ast.AST) -> tuple[ast.Name, str, bool] | None:
    """Return the name, the text and whether they must be equal for ``name == "text"``; None for other nodes."""
    if not isinstance(node, ast.Compare) or len(node.ops) != 1 or not isinstance(node.left, ast.Name):
        return None
    operator, other = node.ops[0], node.comparators[0]
    if not isinstance(operator, (ast.Eq, ast.NotEq)) or not isinstance(other, ast.Constant):
        return None
    return (node.left, other.value, isinstance(operator, ast.Eq)) if isinstance(other.value, str) else None


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")

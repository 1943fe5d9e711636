"""Expressions that a compiler knows: literals, sizes of tensors, and numbers that the object keeps."""

import ast

_SIZES = frozenset({"dim", "nelement", "numel", "size"})


def is_constant(node: ast.expr) -> bool:
    """Return whether an expression is made of literals, sizes and attributes of ``self`` alone."""
    if isinstance(node, (ast.List, ast.Tuple)):
        return all(map(is_constant, node.elts))
    if isinstance(node, ast.UnaryOp):
        return is_constant(node.operand)
    if isinstance(node, ast.BinOp):
        return is_constant(node.left) and is_constant(node.right)
    return isinstance(node, ast.Constant) or _is_size(node) or _is_kept(node)


def _is_size(node: ast.expr) -> bool:
    if isinstance(node, ast.Subscript):
        return isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
    if isinstance(node, ast.Call):
        function = node.func
        is_len = isinstance(function, ast.Name) and function.id == "len"
        return is_len or (isinstance(function, ast.Attribute) and function.attr in _SIZES)
    return isinstance(node, ast.Attribute) and node.attr == "ndim"


def _is_kept(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"

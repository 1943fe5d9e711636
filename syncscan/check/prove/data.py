"""Stores to the ``data`` of a tensor, which move the tensor under all its names."""

from __future__ import annotations

import ast

from syncscan.check.infer.source.syntax import walk
from syncscan.check.prove.frame import WalkFrame
from syncscan.check.prove.outline import DATA
from syncscan.check.prove.values import ANYWHERE, TOP, AbstractValue, options_of
from syncscan.model import Device, Kind
from syncscan.syntax.names import dotted_name


def sets_data(frame: WalkFrame, node: ast.AST, base: AbstractValue, value: AbstractValue) -> None:
    """Walk ``x.data = value``, which transfers the tensor under all its names.

    The proof does not follow the names, but the attribute that the tensor is read from.
    """
    tensors = [each for each in base.options or (base,) if each.kind is Kind.TENSOR or each is TOP]
    if not tensors or not _may_be_data(value) or _stays(frame, node):
        return
    is_known = value.kind is Kind.TENSOR and value.device in {Device.CPU, Device.CUDA}
    if not is_known or any(each.device is not value.device for each in tensors):
        frame.may(node, None, _MOVES, "bind a name, or an attribute, to the other tensor")
    holder = node.args[0] if isinstance(node, ast.Call) else getattr(node, "value", None)
    if isinstance(holder, ast.Attribute):
        data = value if value.kind is Kind.TENSOR else ANYWHERE
        frame.walk.stored.setdefault(holder.attr, []).append((frame.evaluate(holder.value), data))


def _may_be_data(value: AbstractValue) -> bool:
    return any(each.kind not in _NEVER_DATA for each in options_of(value))


def _stays(frame: WalkFrame, node: ast.AST) -> bool:
    """Return whether a statement computes the data of a tensor from that tensor, by operations that keep the device."""
    statement = frame.statement
    if isinstance(statement, ast.AugAssign):  # in place
        return statement.target is node
    if not isinstance(statement, ast.Assign) or not isinstance(node, ast.Attribute):
        return False
    is_set = node in statement.targets and dotted_name(node.value) != ""
    return is_set and _follows(frame, statement.value, dotted_name(node.value))


def _follows(frame: WalkFrame, node: ast.expr, tensor: str) -> bool:
    """Return whether an expression is on the device of a tensor, whatever device that is."""
    if dotted_name(node) == tensor:
        return True
    if isinstance(node, ast.Attribute):
        return node.attr in _PARTS and _follows(frame, node.value, tensor)
    operands = _operands(frame, node)
    follow = [_follows(frame, each, tensor) for each in operands]
    return any(follow) and all(
        known or _is_number(frame, each) for known, each in zip(follow, operands, strict=True)
    )


def _operands(frame: WalkFrame, node: ast.expr) -> list[ast.expr]:
    """Return the operands of an operation whose result is on their device; none of another expression."""
    if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not):
        return [node.operand]
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        operation = frame.source.operation(f"torch.Tensor.{node.func.attr}")
        if operation is not None and operation.result in _KEEPING and "device" not in operation.args:
            return [node.func.value, *node.args, *(each.value for each in node.keywords)]
    return []


def _is_number(frame: WalkFrame, node: ast.expr) -> bool:
    """Return whether an expression is a number, and runs nothing that may bind the tensor's name again."""
    runs_code = any(isinstance(each, ast.Call | ast.NamedExpr | ast.Await) for each in walk(node))
    return not runs_code and frame.evaluate(node).kind is Kind.NUMBER


_PARTS = frozenset({DATA, "grad"})  # of a tensor, on the device of the tensor
_KEEPING = frozenset({"input", "view"})  # results of operations that are on the device of the operands
_NEVER_DATA = frozenset(
    {Kind.NUMBER, Kind.STRING, Kind.NONE, Kind.LIST, Kind.TUPLE, Kind.SET, Kind.DICT}
)  # kinds of values that no tensor has as its data
_MOVES = "the tensor may go to another device under all its names, which the proof does not follow"

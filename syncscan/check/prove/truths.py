"""The truth of a value: of a tensor on the GPU it is read from there."""

from __future__ import annotations

import ast

from syncscan.check.prove.frame import WalkFrame
from syncscan.check.prove.narrowing import narrow
from syncscan.check.prove.special import runs
from syncscan.check.prove.values import NO_TENSOR, UNREACHED, AbstractValue, Truth, may_be_gpu, truth
from syncscan.model import Kind


def truth_of(frame: WalkFrame, node: ast.expr) -> Truth:
    """Walk a test; return its truth where that is a constant."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        known = truth_of(frame, node.operand)
        return not known if isinstance(known, bool) else known
    if isinstance(node, ast.BoolOp):
        return _of_parts(frame, node)
    return asks_truth(frame, node, frame.evaluate(node))


def _of_parts(frame: WalkFrame, node: ast.BoolOp) -> Truth:
    """Walk the parts of ``a and b``; return its truth where the parts that run are constants."""
    ends = isinstance(node.op, ast.Or)
    known: Truth = not ends
    with narrowing() as narrowed:
        for part in node.values:
            if part is not node.values[0] and not frame.prover.ran.may_evaluate(frame.module, part):
                return ends  # which a part before has decided
            one = truth_of(frame, part)
            if one is UNREACHED:
                return UNREACHED if known is not None else ends
            if one is ends:
                return known if known is None else ends
            known = None if one is None else known
            narrowed(frame, part, holds=not ends)
    return known


class narrowing:  # noqa: N801 (read as a function)
    """A region in which names are narrowed by the parts before; behind it they are what they were."""

    def __init__(self) -> None:
        self._undo: list[tuple[WalkFrame, str, AbstractValue, AbstractValue]] = []

    def __enter__(self) -> narrowing:
        return self

    def __call__(self, frame: WalkFrame, test: ast.expr, *, holds: bool) -> None:
        """Narrow the names of a test."""
        before = dict(frame.env)
        narrow(frame, test, holds=holds)
        for name, value in frame.env.items():
            if before.get(name, value) is not value:
                self._undo.append((frame, name, before[name], value))

    def __exit__(self, *_: object) -> None:
        for frame, name, before, after in reversed(self._undo):
            if frame.env.get(name) is after:  # and not rebound in between
                frame.env[name] = before


def asks_truth(frame: WalkFrame, node: ast.AST, value: AbstractValue) -> Truth:
    """Note that the truth of a value is asked for; return it where it is a constant."""
    if may_be_gpu(value):
        frame.may(node, node, "{} may be a tensor on the GPU, whose truth is read from there")
    for option in value.options:
        if option.kind is Kind.INSTANCE or option.kind is Kind.CLASS or option is NO_TENSOR:
            runs(frame, node, option, "__bool__", "__len__")
    return truth(value)

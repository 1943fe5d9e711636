"""To write a GPU tensor as text, its values are copied to the host, and each element shown blocks the CPU.

f-strings, `print`, `str`, `repr`, `format`, `%` and the loggers all read the tensor. Printing 64 elements was
measured to synchronize 65 times. A log line in a step costs more than the step's own arithmetic.

**Stays silent** on shapes, dtypes and devices in the text, and on `logger.debug("...", t)` with the tensor
as an argument: it is formatted only where that level is on. An f-string is formatted always.

**No rewrite.** Log every so many steps, or keep the values on the GPU and log them one step later, when
a copy without blocking has arrived.
"""

import ast

from syncscan.model import Device, Kind, Value
from syncscan.ops import Effect
from syncscan.rule import Example, Facts, Match, Rule

from ._instead import of_a_text
from ._shared import blocking_call, given, on_gpu, operands, shown

_WRITERS = ("builtins.", "logging.", "warnings.")


class TextOfTensor(Rule):
    code = "SYN107"
    name = "text-of-tensor"
    summary = "a GPU tensor is written as text"
    instead = "log the shape, or a host copy whose download has finished"
    nodes = (ast.Call, ast.FormattedValue, ast.BinOp)
    examples = (
        Example(
            bad="""\
import torch

loss = torch.ones((), device="cuda")
print("loss", loss)  # expect: SYN107
line = f"loss {loss:.3f}"  # expect: SYN107
text = "loss %s" % loss  # expect: SYN107
more = "loss {}".format(loss)  # expect: SYN107
"""
        ),
        Example(
            bad="""\
import logging

import torch

logger = logging.getLogger(__name__)
loss = torch.ones((), device="cuda")
logger.warning("loss %s", loss)  # expect: SYN107
"""
        ),
        Example(
            good="""\
import logging

import torch

logger = logging.getLogger(__name__)
loss = torch.ones(4, device="cuda")
print(f"{loss.shape} {loss.dtype} {len(loss)}")
logger.debug("loss %s", loss)
print(torch.ones(4))
"""
        ),
    )

    def match(self, node: ast.AST, facts: Facts) -> Match | None:
        value = _written(node, facts)
        if value is None:
            return None
        message = f"{shown(node, facts)} writes a CUDA tensor as text, and each element shown blocks the CPU"
        return Match(node, message, value, of_a_text(node, _tensor(node, facts), facts))


def _tensor(node: ast.AST, facts: Facts) -> ast.expr | None:
    """Return the expression of the tensor that a node turns into text, if the expression stands by itself."""
    if isinstance(node, ast.FormattedValue):
        return node.value
    if isinstance(node, ast.BinOp):
        parts = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
        return next((each for each in parts if facts.of(each).is_gpu), None)
    arguments = given(node) if isinstance(node, ast.Call) else []
    return next((each for each in arguments if facts.of(each).is_gpu), None)


def _tensor_in(value: Value) -> Value | None:
    """Return a value that holds a tensor on the GPU; None where the value may be a text instead, which most texts are made of.

    A number beside a tensor on the GPU is the start of a sum. A number beside a tensor on several devices is the value for some callers.
    """
    kinds = {option.kind for option in value.options}
    if Kind.STRING in kinds or (Kind.NUMBER in kinds and value.device is Device.MIXED):
        return None
    return on_gpu(value)


def _written(node: ast.AST, facts: Facts) -> Value | None:
    """Return the GPU value that a node turns into text."""
    if isinstance(node, ast.FormattedValue):
        return _tensor_in(facts.of(node.value))
    if isinstance(node, ast.BinOp):
        is_format = isinstance(node.op, ast.Mod) and facts.of(node.left).kind is Kind.STRING
        return _tensor_in(facts.of(node.right)) if is_format else None
    call = blocking_call(node, facts, Effect.DOWNLOAD)
    if call is None or not facts.name_of(call.func).startswith(_WRITERS):
        return None
    return next((value for value in map(on_gpu, operands(call, facts)) if value is not None), None)

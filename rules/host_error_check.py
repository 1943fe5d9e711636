"""Some operations read a status from the GPU to raise an error, which blocks the CPU.

`torch.linalg.inv`, `solve`, `cholesky`, `svd`, `eigh` and `lstsq` check that the matrix was not singular
and that the iteration converged. `clip_grad_norm_(..., error_if_nonfinite=True)` reads the norm, and
`GradScaler.step` reads whether a gradient overflowed. With `fused=True` SGD, Adam and AdamW take that test on the GPU, and
the step does not block (measured on an H200, torch 2.11). The rule does not follow how an optimizer was created, so such
findings are at most `inferred`.

**Stays silent** on

- `torch.linalg.det` and `cholesky_ex`, which return the status as a tensor or need none;
- `clip_grad_norm_` without `error_if_nonfinite`;
- matrices in host memory;
- functions that only run compiled, since `torch.compile` drops the checks.

**No rewrite**: `torch.linalg.cholesky_ex(a)[0]` raises no error for a matrix that is not positive definite, and its
result means nothing there. `inv_ex` and `solve_ex` are alike. Take one of them if the matrix is known to be right. Or check
the status later, with others, at a line that synchronizes anyway.
"""

import ast
from dataclasses import replace

from syncscan.model import Confidence
from syncscan.ops import Effect
from syncscan.rule import Example, Facts, Match, Precedence, Rule

from ._parts import last_name
from ._shared import blocking_call, gpu_operand, on_gpu, shown
from ._suggestions import suggest

_NO_FORM = (
    "torch.linalg.eig",
    "torch.linalg.svd",
    "torch.linalg.pinv",
    "torch.pinverse",
    "torch.svd",
    "torch.istft",
    "torch.linalg.lstsq",
    "torch.linalg.qr",
)
_SUGGESTED = {  # rows of the table of suggestions
    "torch.linalg.cholesky": "cholesky",
    "torch.linalg.inv": "inv",
    "torch.inverse": "inv",
    "torch.Tensor.inverse": "inv",
    "torch.Tensor.cholesky": "cholesky",
    "torch.cholesky": "cholesky",
    "torch.linalg.solve": "solve",
    "torch.linalg.lu_factor": "lu_factor",
    "torch.nn.utils.clip_grad_norm_": "clip",
    "torch.testing.assert_close": "assert_close",
    "torch.amp.GradScaler.step": "scaler",
    "torch.cuda.amp.GradScaler.step": "scaler",
}
_CHECKED = "torch.distributions."
_OF_A_VALUE = frozenset({"log_prob", "cdf", "icdf", "_validate_sample"})  # methods that check their value


class HostErrorCheck(Rule):
    code = "SYN502"
    name = "host-error-check"
    summary = "an operation reads a status from the GPU to raise an error"
    instead = (
        "use an operation without an error check, or run the operation where the host synchronizes anyway"
    )
    nodes = (ast.Call,)
    precedence = Precedence.FAMILY
    examples = (
        Example(
            bad="""\
import torch

a = torch.eye(8, device="cuda")
lower = torch.linalg.cholesky(a)  # expect: SYN502
"""
        ),
        Example(
            bad="""\
import torch

a = torch.eye(8, device="cuda")
inverse = torch.linalg.inv(a)  # expect: SYN502
x = torch.linalg.solve(a, a)  # expect: SYN502
values, vectors = torch.linalg.eigh(a)  # expect: SYN502
"""
        ),
        Example(
            bad="""\
import torch

layer = torch.nn.Linear(4, 4, device="cuda")
layer(torch.ones((2, 4), device="cuda")).sum().backward()
torch.nn.utils.clip_grad_norm_(layer.parameters(), 1.0, error_if_nonfinite=True)  # expect: SYN502
"""
        ),
        Example(
            bad="""\
import torch

weight = torch.nn.Parameter(torch.ones(8, device="cuda"))
optimizer = torch.optim.SGD([weight])
scaler = torch.amp.GradScaler("cuda")
scaler.scale(weight.sum()).backward()
scaler.step(optimizer)  # expect: SYN502
"""
        ),
        Example(
            good="""\
import torch

a = torch.eye(8, device="cuda")
lower, status = torch.linalg.cholesky_ex(a)
volume = torch.linalg.det(a)
layer = torch.nn.Linear(4, 4, device="cuda")
torch.nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
host = torch.linalg.inv(torch.eye(8))
"""
        ),
    )

    def match(self, node: ast.AST, facts: Facts) -> Match | None:
        call = blocking_call(node, facts, Effect.CHECK)
        if call is None:
            return None
        name = facts.name_of(call.func)
        if _SUGGESTED.get(name) == "scaler":
            message = (
                f"{shown(call, facts)} reads from the GPU whether a gradient overflowed, which blocks the CPU"
            )
            unfused = replace(facts.of(call), confidence=Confidence.INFERRED)  # as most optimizers are
            return Match(call, message, unfused, _hint(name, call, facts), is_implicit=True)
        message = f"{shown(call, facts)} reads a status from the GPU to raise an error, which blocks the CPU"
        because = gpu_operand(call, facts) or on_gpu(facts.of(call))
        return Match(call, message, because, _hint(name, call, facts), is_implicit=True, folds=True)


def _hint(name: str, call: ast.Call, facts: Facts) -> str:
    """Return the suggestion for an operation, by its full name."""
    if name in _SUGGESTED:
        return "" if _needs_its_check(call, facts) else suggest(_SUGGESTED[name])
    if name.startswith(_CHECKED):
        return _of_a_distribution(name, call, facts)
    return suggest("no-form", operation=name) if name.startswith(_NO_FORM) else ""


def _needs_its_check(call: ast.Call, facts: Facts) -> bool:
    """Return whether the program catches the error of a call, or makes the call for its caller: ``super().step(optimizer)``."""
    is_caught = any(isinstance(each, ast.Try) and each.handlers for each in facts.around(call).up(call))
    return is_caught or (isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Call))


def _of_a_distribution(name: str, call: ast.Call, facts: Facts) -> str:
    owner, _, last = name.rpartition(".")
    if last in {"sample", "sample_n"}:
        return suggest("sample") if owner.endswith(".Normal") else ""
    if last == "_validate_sample" and last_name(call.func) == "__init__":  # what the base class calls
        return suggest("distribution")
    if last[:1].islower() or last == "_validate_sample":
        return suggest("distribution-method", method=last) if last in _OF_A_VALUE else ""
    case = facts.blocks(call)  # some block for another reason too, which the argument does not take away
    return suggest("distribution") if case is not None and case.unless else ""

"""The table of suggestions: what to write in place of a line, by where it stands.

`check`, `trace`, the language server and the pages of the rules take every suggestion from here, so that they cannot
contradict each other. ``{tensor}`` and the like stand for the source of an operand.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One suggestion: where it fits, what to write, and the codes of the rules that give it."""

    where: str
    text: str
    codes: frozenset[str]


def _row(codes: str, where: str, text: str) -> Suggestion:
    return Suggestion(where, text, frozenset(f"SYN{code}" for code in codes.split()))


_READS = "101 102 103 105 106"
TABLE: dict[str, Suggestion] = {
    # reading from the GPU
    "append": _row(
        "101 102 103",
        "appended to a list in a loop",
        "append `{tensor}.detach()`, and read the list once behind the loop: `torch.stack({list}).tolist()`",
    ),
    "sum": _row(
        _READS,
        "added up in a loop",
        "add it up on the GPU (of a loss, `.detach()`), and read the sum once, behind the loop",
    ),
    "log": _row(
        "101 102 103 107",
        "logged or printed in a loop",
        "keep `{tensor}.detach()`, and log all of them with one `.tolist()` every N steps or behind the loop",
    ),
    "list-before-loop": _row(
        _READS,
        "read in each round of a loop, of a tensor from before it",
        "read what all rounds need with one `.tolist()` before the loop; better, keep the numbers on the host from which it was made",
    ),
    "round-later": _row(
        _READS,
        "read in each round of a loop that makes it",
        "copy it into pinned memory with `non_blocking=True`, and read it in a later round, when its event is done",
    ),
    "takes-tensor": _row(
        "101 103",
        "given to an operation that reads it on the GPU",
        "give `{operation}` the tensor itself, which it reads on the GPU",
    ),
    "fill": _row(
        "101 103",
        "given to `fill_`",
        "give `fill_` the tensor itself, which it reads on the GPU; `syncscan recipe show pad_logits_indices` does",
    ),
    "at-once": _row(
        "102 105",
        "used at once",
        "what is read at once cannot be copied without a synchronization: take it from what the host already has, or stay on the GPU",
    ),
    "asserted": _row(
        "101 103 104",
        "in an assertion, or to raise an error",
        "`torch._assert_async(condition)` tests it on the GPU; or leave it to a test, or behind a switch for debugging",
    ),
    "pickle": _row(
        "105",
        "pickled",
        "pickle what the host has; where it must come from the GPU, download it into pinned memory before, and synchronize as late as possible",
    ),
    # numbers and truth
    "add": _row(
        "106", "`alpha=` of `add`", "write the product out, `x + alpha * y`: the factor then stays on the GPU"
    ),
    "sub": _row(
        "106", "`alpha=` of `sub`", "write the product out, `x - alpha * y`: the factor then stays on the GPU"
    ),
    "full": _row(
        "106",
        "the value of `full`",
        "use `value.expand(size)`, or `torch.empty(size, device=...).fill_(value)`",
    ),
    "repeat": _row(
        "106",
        "`repeat`",
        "repeat by a number that the host knows, or index with `torch.arange(upper_bound) % n`",
    ),
    "arange": _row(
        "106", "a bound of `arange`", "take the bound from the host; an upper bound and a mask serve as well"
    ),
    "stack": _row(
        "106", "GPU scalars made one tensor", "`torch.stack` puts GPU scalars together without reading them"
    ),
    "size": _row(
        "106", "a size", "take the number from the host: a shape, or the list from which the tensor was made"
    ),
    "bound": _row(
        "106",
        "a bound of a slice",
        "take the bound from the host, or keep all of it and mask: `torch.arange(upper_bound, device=...) < n`",
    ),
    "index": _row(
        "106",
        "an index",
        "`x.index_select(0, i.view(1))` picks it on the GPU; or take the index from the host",
    ),
    "min": _row(
        "104",
        "`min`",
        "`torch.minimum` of two, or `amin` of a stack, compares on the GPU; or compare what the host knows",
    ),
    "max": _row(
        "104",
        "`max`",
        "`torch.maximum` of two, or `amax` of a stack, compares on the GPU; or compare what the host knows",
    ),
    "any": _row("104", "`any`", "`torch.stack(...).any()` asks once for all of them"),
    "all": _row("104", "`all`", "`torch.stack(...).all()` asks once for all of them"),
    "sorted": _row("104", "`sorted`", "`torch.sort` orders them on the GPU"),
    # results whose size depends on data
    "masked-fill": _row(
        "201",
        "a scalar stored through a mask",
        "`{tensor}.masked_fill_({mask}, {value})` takes the scalar from the GPU, and counts nothing",
    ),
    "masked-where": _row(
        "201",
        "elements of another tensor stored through the same mask",
        "`{tensor}.copy_(torch.where({mask}, {value}, {tensor}))` keeps the shape, and counts nothing",
    ),
    "masked-scatter": _row(
        "201",
        "a tensor stored through a mask",
        "`{tensor}.masked_scatter_({mask}, {value})` takes the values in order, and counts nothing; of values in place, `torch.where`",
    ),
    "masked-sum": _row(
        "201 203",
        "summed at once",
        "`torch.where({mask}, {tensor}, 0)` keeps the shape: sum that; of a mean, divide by `{mask}.sum()`",
    ),
    "bincount": _row(
        "206",
        "`bincount`",
        "count into a known number of bins: `torch.zeros(bins, device=...).scatter_add_(0, ids, ones)`",
    ),
    "one_hot": _row("206", "`one_hot`", "pass `num_classes`"),
    "isin": _row("206", "`isin`", "compare with each value: `(a[:, None] == b).any(1)`"),
    # uploads
    "make-on-gpu": _row("301 302", "made on the host only to be moved", "make it on the GPU"),
    "upload": _row("301 302", "made from data of the host", "copy from pinned memory without blocking"),
    "array": _row(
        "301 302 303",
        "a NumPy array",
        "`torch.from_numpy({array}).pin_memory().to({device}, non_blocking=True)`, where CUDA is there; `torch.tensor` pins no array",
    ),
    "random": _row(
        "302",
        "random numbers",
        "draw them on the GPU, with `device={device}`: its generator gives others than that of the CPU",
    ),
    "rounded": _row(
        "302",
        "fractions from `arange` or `linspace`",
        "make them on the GPU, with `device={device}`: the last bit may be rounded differently there",
    ),
    "loader": _row(
        "302 303",
        "a tensor from elsewhere",
        "pin it where it is made (`DataLoader(pin_memory=True)`, or `pin_memory=True` of the factory), and copy with `non_blocking=True`",
    ),
    "made-here": _row(
        "302 303 305",
        "a tensor whose origin is known",
        "make it on the GPU, with `device=` where it is made ({place}), or upload it from pinned memory",
    ),
    "load": _row(
        "302", "`torch.load`", "load it before the steps begin; the host reads the file in any case"
    ),
    "operand": _row("302", "an operand on the host", "make it on the GPU, with `device=` where it is made"),
    "number-operand": _row(
        "302",
        "a number made a tensor",
        "write the number itself in its place, or make the tensor on the GPU with `device=`",
    ),
    "slice": _row("305", "neighbouring rows", "a slice is a view and needs no index: `{slice}`"),
    "rows": _row("305", "a few rows", "`torch.stack` of the rows, or an index that was made on the GPU once"),
    "store": _row(
        "306",
        "a store with several indices",
        "store a tensor that was made on the GPU once, such as `one = torch.ones((), device=...)`: `x[i, j] = one`",
    ),
    "pin": _row("303", "a source made on the spot", "pin the memory that is copied"),
    # error checks
    "cholesky": _row("502", "`cholesky`", "`torch.linalg.cholesky_ex` returns the status on the GPU"),
    "inv": _row("502", "`inv`", "`torch.linalg.inv_ex` returns the status on the GPU"),
    "solve": _row("502", "`solve`", "`torch.linalg.solve_ex` returns the status on the GPU"),
    "lu_factor": _row(
        "502",
        "`lu_factor`",
        "`torch.linalg.lu_factor_ex` returns the status on the GPU, but checks it too: leave the factors to `solve_ex`",
    ),
    "clip": _row("502", "`clip_grad_norm_`", "test the returned norm later, or on the GPU"),
    "assert_close": _row(
        "502",
        "`assert_close`",
        "leave it to tests; in a run, `torch._assert_async` of `torch.isclose(a, b).all()` tests it on the GPU",
    ),
    "scaler": _row(
        "502", "`GradScaler.step`", "bfloat16 needs no scaler; with one, this synchronization is its price"
    ),
    "distribution": _row("502", "a distribution", "`validate_args=False` leaves the check out"),
}


def suggest(name: str, **operands: str) -> str:
    """Return the text of a suggestion, with the source of operands in their places."""
    return TABLE[name].text.format(**operands)

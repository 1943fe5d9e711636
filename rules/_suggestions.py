"""The table of suggestions: the code to write in place of a line, by the line's site.

`check`, `trace`, the language server and the pages of the rules take every suggestion from this table, so that no two
contradict each other. ``{tensor}`` and the like stand for the source of an operand.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One suggestion: the sites that fit, the code to write, and the codes of the rules that use the suggestion."""

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
        "append `{tensor}.detach()`, and read the list once after the loop: `torch.stack({list}).tolist()`",
    ),
    "sum": _row(
        _READS,
        "added up in a loop",
        "add up the values on the GPU (a loss with `.detach()`), and read the sum once after the loop",
    ),
    "log": _row(
        "101 102 103 107",
        "logged or printed in a loop",
        "keep `{tensor}.detach()`, and log all values with one `.tolist()` every N steps or after the loop",
    ),
    "list-before-loop": _row(
        _READS,
        "read in each round of a loop, of a tensor from before it",
        "call `.tolist()` once before the loop, or use the host numbers from which the tensor was created",
    ),
    "round-later": _row(
        _READS,
        "read in each round of a loop that makes it",
        "copy the tensor into pinned memory with `non_blocking=True`, record an event, and read the copy in a later iteration",
    ),
    "takes-tensor": _row(
        "101 103",
        "given to an operation that reads it on the GPU",
        "give `{operation}` the tensor itself: the operation reads the value on the GPU",
    ),
    "fill": _row(
        "101 103",
        "given to `fill_`",
        "give `fill_` the tensor itself: the operation reads the value on the GPU, as in `syncscan recipe show pad_logits_indices`",
    ),
    "at-once": _row(
        "102 105",
        "used at once",
        "stay on the GPU, or use data that the host already has: a copy that the next lines read always synchronizes",
    ),
    "asserted": _row(
        "101 103 104",
        "in an assertion, or to raise an error",
        "test on the GPU with `torch._assert_async(condition)`, or move the check to a test or a debug mode",
    ),
    "pickle": _row(
        "105",
        "pickled",
        "pickle data of the host; copy a GPU tensor into pinned memory before, and synchronize as late as possible",
    ),
    # numbers and truth
    "add": _row(
        "106", "`alpha=` of `add`", "write the product, `x + alpha * y`: the factor stays on the GPU"
    ),
    "sub": _row(
        "106", "`alpha=` of `sub`", "write the product, `x - alpha * y`: the factor stays on the GPU"
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
        "106", "a bound of `arange`", "use a bound that the host has, or an upper bound and a mask"
    ),
    "stack": _row(
        "106", "GPU scalars made one tensor", "use `torch.stack`, which joins GPU scalars without a read"
    ),
    "size": _row(
        "106",
        "a size",
        "use a number that the host has: a shape, or the list that the tensor was created from",
    ),
    "bound": _row(
        "106",
        "a bound of a slice",
        "use a bound that the host has, or keep all elements and mask: `torch.arange(upper_bound, device=...) < n`",
    ),
    "index": _row(
        "106",
        "an index",
        "use `x.index_select(0, i.view(1))`, or an index that the host has",
    ),
    "min": _row(
        "104",
        "`min`",
        "compare on the GPU with `torch.minimum`, or with `amin` of a stack",
    ),
    "max": _row(
        "104",
        "`max`",
        "compare on the GPU with `torch.maximum`, or with `amax` of a stack",
    ),
    "any": _row("104", "`any`", "read once for all tensors: `torch.stack(...).any()`"),
    "all": _row("104", "`all`", "read once for all tensors: `torch.stack(...).all()`"),
    "sorted": _row("104", "`sorted`", "sort on the GPU with `torch.sort`"),
    # results whose size depends on data
    "masked-fill": _row(
        "201",
        "a scalar stored through a mask",
        "`{tensor}.masked_fill_({mask}, {value})` reads the scalar on the GPU and counts no elements",
    ),
    "masked-where": _row(
        "201",
        "elements of another tensor stored through the same mask",
        "`{tensor}.copy_(torch.where({mask}, {value}, {tensor}))` keeps the shape and counts no elements",
    ),
    "masked-scatter": _row(
        "201",
        "a tensor stored through a mask",
        "`{tensor}.masked_scatter_({mask}, {value})` stores the values in order and counts no elements; for values in place, use `torch.where`",
    ),
    "masked-sum": _row(
        "201 203",
        "summed at once",
        "`torch.where({mask}, {tensor}, 0)` keeps the shape for a sum; for a mean, divide by `{mask}.sum()`",
    ),
    "bincount": _row(
        "206",
        "`bincount`",
        "count into a known number of bins: `torch.zeros(bins, device=...).scatter_add_(0, ids, ones)`",
    ),
    "one_hot": _row("206", "`one_hot`", "pass `num_classes`"),
    "isin": _row("206", "`isin`", "compare with each value: `(a[:, None] == b).any(1)`"),
    # uploads
    "make-on-gpu": _row("301 302", "made on the host only to be moved", "create the tensor on the GPU"),
    "upload": _row(
        "301 302", "made from data of the host", "copy from pinned memory with `non_blocking=True`"
    ),
    "array": _row(
        "301 302 303",
        "a NumPy array",
        "`torch.from_numpy({array}).pin_memory().to({device}, non_blocking=True)`, if CUDA is available; `torch.tensor` cannot pin an array",
    ),
    "random": _row(
        "302",
        "random numbers",
        "draw the numbers on the GPU with `device={device}`; the generator of the GPU draws other numbers",
    ),
    "rounded": _row(
        "302",
        "fractions from `arange` or `linspace`",
        "create the tensor on the GPU with `device={device}`; the last bit may differ",
    ),
    "loader": _row(
        "302 303",
        "a tensor from elsewhere",
        "create the source in pinned memory (`DataLoader(pin_memory=True)`, or `pin_memory=True`), and copy with `non_blocking=True`",
    ),
    "made-here": _row(
        "302 303 305",
        "a tensor whose origin is known",
        "create the tensor on the GPU with `device=` ({place}), or copy from pinned memory with `non_blocking=True`",
    ),
    "load": _row("302", "`torch.load`", "load the file before the first step"),
    "operand": _row("302", "an operand on the host", "create the tensor on the GPU with `device=`"),
    "number-operand": _row(
        "302",
        "a number made a tensor",
        "use the number in place of the tensor, or create the tensor on the GPU with `device=`",
    ),
    "slice": _row("305", "neighbouring rows", "use a slice, which is a view and needs no index: `{slice}`"),
    "rows": _row("305", "a few rows", "use `torch.stack` of the rows, or create the index on the GPU once"),
    "store": _row(
        "306",
        "a store with several indices",
        "store a tensor that the GPU holds, such as `one = torch.ones((), device=...)`: `x[i, j] = one`",
    ),
    "pin": _row("303", "a source made on the spot", "pin the source of the copy"),
    # error checks
    "cholesky": _row(
        "502", "`cholesky`", "use `torch.linalg.cholesky_ex`, which returns the status on the GPU"
    ),
    "inv": _row("502", "`inv`", "use `torch.linalg.inv_ex`, which returns the status on the GPU"),
    "solve": _row("502", "`solve`", "use `torch.linalg.solve_ex`, which returns the status on the GPU"),
    "lu_factor": _row(
        "502",
        "`lu_factor`",
        "use `torch.linalg.solve_ex`, which returns the status on the GPU; `lu_factor_ex` blocks too",
    ),
    "clip": _row("502", "`clip_grad_norm_`", "test the returned norm later, or on the GPU"),
    "assert_close": _row(
        "502",
        "`assert_close`",
        "compare in tests only, or test on the GPU: `torch._assert_async(torch.isclose(a, b).all())`",
    ),
    "scaler": _row(
        "502",
        "`GradScaler.step`",
        "train in bfloat16, which needs no scaler; each step of a scaler synchronizes",
    ),
    "distribution": _row("502", "a distribution", "pass `validate_args=False` to skip the check"),
}


def suggest(name: str, **operands: str) -> str:
    """Return the text of a suggestion, with the source of operands in their places."""
    return TABLE[name].text.format(**operands)

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
        "101 102 103 106",
        "appended to a list",
        "append `{tensor}`, and read the list once, after the loop: `torch.stack({list}).tolist()`",
    ),
    "sum": _row(
        _READS,
        "added up",
        "add up on the GPU, `{statement}`, and read `{sum}` once, after the loop",
    ),
    "sum-long": _row(
        _READS,
        "added up in a long statement",
        "add `{tensor}` to `{sum}` on the GPU, and read `{sum}` once, after the loop",
    ),
    "log": _row(
        "101 102 103 106 107",
        "logged or printed in a loop",
        "keep `{tensor}`, and log all values with one `torch.stack(values).tolist()` every N steps or after the loop",
    ),
    "log-rarely": _row(
        "101 102 103 106 107",
        "logged or printed outside a loop",
        "log every N steps only, or give the logger `{tensor}`, so that the logger reads many values with one copy",
    ),
    "record": _row(
        "101 103 106",
        "recorded in a dict, an attribute or a meter",
        "record `{tensor}`, and read all records with one `torch.stack(...).tolist()` where they are printed",
    ),
    "return": _row(
        "101 103 106",
        "returned",
        "return `{tensor}`, and let the caller read the number where the caller prints or needs the number",
    ),
    "mirror": _row(
        "101 103 106",
        "returned, of an attribute",
        "keep a Python number beside `{tensor}`, set in the lines that set the tensor, and return the number",
    ),
    "lengths": _row(
        "101 102 103 106",
        "a size or a range",
        "keep the Python numbers from which the host creates `{tensor}`, pass them with the tensor, and compute the size from them",
    ),
    "read-together": _row(
        "101 103 106",
        "read beside another read",
        "read both numbers with one copy, `a, b = torch.stack([a, b]).tolist()`: the statement {side} reads from the GPU, too",
    ),
    "random-number": _row(
        "101 103 106",
        "a random number",
        "draw `{tensor}` on the host, with `random` or a CPU generator: the host needs the number, and nothing is read",
    ),
    "not-finite": _row(
        "101 103 104",
        "a test for NaN or infinity",
        "replace on the GPU, `torch.where(torch.isfinite({tensor}), {tensor}, 0)`, or test every N steps a copy made with `non_blocking=True`",
    ),
    "any-round": _row(
        "101 103 104",
        "a loop that returns at the first true test",
        "collect the tests of all rounds in a list, and read `torch.stack(tests).any()` once, after the loop",
    ),
    "stop": _row(
        "101 103 104",
        "the end of a loop",
        "test one round later: copy `{test}` into pinned memory with `non_blocking=True`, and test the copy in the next round",
    ),
    "choose": _row(
        "101 103 104",
        "a choice between two values",
        "choose on the GPU: `torch.where({test}, {new}, {old})`",
    ),
    "choose-name": _row(
        "101 103 104",
        "a choice of what a name holds",
        "choose on the GPU: `{target} = torch.where({test}, {new}, {old})`",
    ),
    "guard": _row(
        "101 103 104",
        "a guard of operations with a mask",
        "drop the test, and let the body run: `torch.where` and `masked_fill` with an empty `{mask}` change nothing",
    ),
    "guard-all": _row(
        "101 103 104",
        "a guard of work for incomplete masks",
        "drop the test, and let the body run in each call: for a `{mask}` without a false element, masked operations change nothing",
    ),
    "decide-before": _row(
        "101 103 104",
        "a decision of each round of a loop",
        "compute `{test}` for all rounds before the loop, and read the decisions with one `.tolist()`",
    ),
    "counter": _row(
        "101 103 104",
        "a count that ends a loop",
        "keep a Python number beside `{tensor}`, changed in the lines that change the tensor, and test the number",
    ),
    "early-exit": _row(
        "101 103 104",
        "an early return",
        "drop the early exit, if the code below gives the same result, or test the host data behind `{test}`",
    ),
    "branch": _row(
        "101 103 104",
        "another branch",
        "compute both results and choose with `torch.where({test}, a, b)`, or test the host data behind `{test}`",
    ),
    "iterate": _row(
        _READS,
        "an element of a tensor in a loop over the tensor",
        "loop over `{iterable}.tolist()`: one read before the loop, and none inside",
    ),
    "iterate-rows": _row(
        _READS,
        "a result for each row in a loop over a tensor",
        "call `{operation}` for all rows of `{iterable}` at once (`dim=-1`), and call `.tolist()` once before the loop",
    ),
    "hoist": _row(
        _READS,
        "the same read in each round of a loop",
        "read once before the loop: `{read}` has one value for all rounds",
    ),
    "elements": _row(
        _READS,
        "an element of a tensor from before the loop",
        "call `{tensor}.tolist()` once before the loop, and take the elements of the list",
    ),
    "gather": _row(
        _READS,
        "a tensor of each object in a loop",
        "collect `{tensor}` of all rounds in a list, and read the list with one `torch.stack(...).tolist()`",
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
    "copy-before-loop": _row(
        "105",
        "parts of a tensor, copied one by one",
        "copy once before the loop, `{iterable}.cpu()`, and take the parts of the copy",
    ),
    "copies": _row(
        "105",
        "tensors, copied one by one",
        'queue each copy with `.to("cpu", non_blocking=True)`, and call `torch.cuda.synchronize()` once, after the loop',
    ),
    "append-copy": _row(
        "102 105",
        "copied and appended to a list",
        "append `{tensor}`, and copy once after the loop, `torch.cat({list}).cpu()`; or copy with `non_blocking=True` and synchronize once",
    ),
    "return-copy": _row(
        "102 105",
        "copied and returned",
        "return `{tensor}` as the tensor is, on the GPU, and let the caller copy the last result alone",
    ),
    "copy-together": _row(
        "102 105",
        "copied beside another copy",
        'queue this copy and that of the statement {side} with `.to("cpu", non_blocking=True)`, and synchronize once for both',
    ),
    "store-in-loop": _row(
        "105",
        "stored in a host tensor in a loop",
        "create `{store}` on the GPU with `device=`, and copy `{store}` to the host once, after the loop",
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
        "start the copy where `{tensor}` is made, with `non_blocking=True`, and synchronize here; suppress the line if nothing runs between",
    ),
    "record-copy": _row(
        "102 105",
        "copied into a dict, an attribute or a log",
        "record `{tensor}`, and copy all records at once, where they are printed or written",
    ),
    "collect": _row(
        "102 105",
        "used at once in a loop",
        "collect `{tensor}` of all rounds in a list, copy with one `torch.stack(...).cpu()`, and run the host work after the loop",
    ),
    "index-tensor": _row(
        "102 105",
        "an index",
        "index with `{tensor}` itself: the GPU holds the index",
    ),
    "pass-tensor": _row(
        "101 103 106",
        "given to a function",
        "give `{function}` the tensor, `{tensor}`: its operations then read the value on the GPU",
    ),
    "pin-source": _row(
        "302",
        "the result of a call",
        "copy from pinned memory: `{source}.pin_memory().to({device}, non_blocking=True)`",
    ),
    "range": _row(
        "301", "a range", "create the tensor on the GPU: `torch.arange({bounds}, device={device})`"
    ),
    "max-of-one": _row("104", "`max` of the elements of a tensor", "reduce on the GPU: `{tensor}.max()`"),
    "min-of-one": _row("104", "`min` of the elements of a tensor", "reduce on the GPU: `{tensor}.min()`"),
    "store-on-gpu": _row(
        "105",
        "stored in a tensor made above",
        "create `{store}` on the GPU: add `device=` where it is made",
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
        "use the Python number from which the host creates `{tensor}`, or keep all elements and mask: `torch.arange(upper_bound, device=...) < {tensor}`",
    ),
    "index": _row(
        "101 103 106",
        "an index",
        "index on the GPU: `{indexed}.index_select({dim}, {tensor}.view(1))`, or use an index that the host has",
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
    "max-number": _row("104", "`max` with a number", "compare on the GPU: `{tensor}.clamp(min={number})`"),
    "min-number": _row("104", "`min` with a number", "compare on the GPU: `{tensor}.clamp(max={number})`"),
    "any": _row("104", "`any`", "read once for all tensors: `torch.stack(...).any()`"),
    "all": _row("104", "`all`", "read once for all tensors: `torch.stack(...).all()`"),
    "sorted": _row("104", "`sorted`", "sort on the GPU with `torch.sort`"),
    # results whose size depends on data
    "masked-fill": _row(
        "201",
        "a scalar stored through a mask",
        "`{tensor}.masked_fill_({mask}, {value})` works on the GPU and counts no elements",
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
    "masked-elements": _row(
        "203",
        "`masked_select`",
        "keep the shape, `torch.where({mask}, {tensor}, 0)`; or with a count `n` of the host, `{tensor}.flatten()[torch.nonzero_static({mask}.flatten(), size=n)[:, 0]]`",
    ),
    "masked-rows": _row(
        "201 203",
        "read through a mask",
        "keep the shape, `torch.where({mask}, {tensor}, 0)`; or with a count `n` of the host, `{tensor}[torch.nonzero_static({mask}, size=n)[:, 0]]`",
    ),
    "masked-part": _row(
        "201",
        "a mask among other indices",
        "index with `torch.nonzero_static({mask}, size=n)[:, 0]` and a count `n` of the host, or keep all elements and carry `{mask}` along",
    ),
    "non-zero": _row(
        "202",
        "positions of true elements",
        "`torch.nonzero_static({tensor}, size=n)` with a count or bound `n` that the host knows, or keep the mask for `torch.where`",
    ),
    "index-buffer": _row(
        "305",
        "an attribute of a module, uploaded in each call",
        "register `{index}` as a buffer of the module, a tensor that `module.to(device)` moves once",
    ),
    "index-upload": _row(
        "305",
        "a list or a tensor of the host",
        "create the index on the GPU, where `{index}` is built, or copy `{index}` from pinned memory with `non_blocking=True`",
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
        "`torch.from_numpy({array}).pin_memory().to({device}{dtype}, non_blocking=True)`, if CUDA is available; `torch.tensor` cannot pin an array",
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
        "create `{source}` in pinned memory (`DataLoader(pin_memory=True)`, or `pin_memory=True`), and copy with `{copy}`",
    ),
    "buffer": _row(
        "302",
        "an attribute of a module, copied in each call",
        "register `{source}` as a buffer of the module, which `module.to(device)` moves once, or keep the copy: `{source} = {copy}`",
    ),
    "made-above": _row(
        "302",
        "a tensor made above in the function",
        "create `{source}` on the GPU: add `device={device}` where it is made, and drop this copy",
    ),
    "no-element": _row(
        "302", "`torch.Tensor()`", "create the tensor on the GPU: `torch.empty(0, device={device})`"
    ),
    "like": _row(
        "302",
        "what a factory makes, for the type of another tensor",
        "create the tensor on the GPU: add `dtype={like}.dtype, device={like}.device` to the call that creates it",
    ),
    "data": _row(
        "301 302",
        "data of unknown kind",
        "`{full}` if `{data}` is a number, else `{pinned}`",
    ),
    "new": _row(
        "301",
        "`new_tensor`",
        "`{full}` if `{data}` is a number, else create a pinned tensor and call `.to({tensor}.device, non_blocking=True)`",
    ),
    "constant": _row(
        "301 302",
        "an attribute, uploaded in each call",
        "create the tensor of `{data}` once, as a buffer of the module, which `module.to(device)` moves",
    ),
    "number": _row("301 302", "a number", "create the tensor on the GPU: `{full}`"),
    "list": _row("301 302", "a list", "copy from pinned memory: `{pinned}`"),
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
    "sample": _row(
        "502",
        "a sample of a distribution",
        "draw without the check of the parameters, for a normal distribution by `loc + scale * torch.randn_like(loc)`",
    ),
    "no-form": _row(
        "502",
        "an operation that always checks",
        "move the call out of the step, or suppress the line: `{operation}` has no form without the check",
    ),
    "property": _row(
        "501",
        "a property that reads from the GPU",
        "read `{property}` once, before the step or as a `functools.cached_property`, or keep the value on the host beside the tensor",
    ),
    "distribution": _row("502", "a distribution", "pass `validate_args=False` to skip the check"),
}


def suggest(name: str, **operands: str) -> str:
    """Return the text of a suggestion, with the source of operands in their places."""
    return TABLE[name].text.format(**operands)

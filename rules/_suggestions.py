"""The table of suggestions: the code to write in place of a line, by the line's site.

`check`, `trace`, the language server and the pages of the rules take every suggestion from this table, so that no two
contradict each other. ``{tensor}`` and the like stand for the source of an operand.
"""

from __future__ import annotations

from ._read_suggestions import OF_READS
from ._suggestion import Suggestion, row

TABLE: dict[str, Suggestion] = {
    **OF_READS,
    # numbers and truth
    "add": row("106", "`alpha=` of `add`", "write the product, `x + alpha * y`: the factor stays on the GPU"),
    "sub": row("106", "`alpha=` of `sub`", "write the product, `x - alpha * y`: the factor stays on the GPU"),
    "full": row(
        "106",
        "the value of `full`",
        "use `value.expand(size)`, or `torch.empty(size, device=...).fill_(value)`",
    ),
    "repeat": row(
        "106",
        "`repeat`",
        "repeat by a number that the host knows, or index with `torch.arange(upper_bound) % n`",
    ),
    "stack": row(
        "106", "GPU scalars made one tensor", "use `torch.stack`, which joins GPU scalars without a read"
    ),
    "size": row(
        "106",
        "a size",
        "use a number that the host has: a shape, or the list that the tensor was created from",
    ),
    "bound": row(
        "106",
        "a bound of a slice",
        "use the Python number from which the host creates `{tensor}`, or keep all elements and a mask: `torch.arange(upper_bound, device=...) < {tensor}`",
    ),
    "causal": row(
        "106",
        "the mask of a Transformer",
        "pass `{flag}`: True if the mask lets each position see itself and those before, else False",
    ),
    "lbfgs": row(
        "106",
        "`LBFGS`",
        "`LBFGS` reads the loss and its step sizes in each step; optimizers such as `Adam` read nothing",
    ),
    "one-row": row("106", "a slice of one row", "index on the GPU: `{row}`"),
    "index": row(
        "101 103 106",
        "an index",
        "index on the GPU: `{row}.squeeze({dim})`, or use an index that the host has",
    ),
    "min": row(
        "104",
        "`min`",
        "compare on the GPU with `torch.minimum`, or with `amin` of a stack",
    ),
    "max": row(
        "104",
        "`max`",
        "compare on the GPU with `torch.maximum`, or with `amax` of a stack",
    ),
    "max-number": row("104", "`max` with a number", "compare on the GPU: `{tensor}.clamp(min={number})`"),
    "min-number": row("104", "`min` with a number", "compare on the GPU: `{tensor}.clamp(max={number})`"),
    "any-of-one": row("104", "`any` of one tensor", "read once: `{tensor}.any()`"),
    "all-of-one": row("104", "`all` of one tensor", "read once: `{tensor}.all()`"),
    "any": row("104", "`any`", "read once for all tensors: `torch.stack(...).any()`"),
    "all": row("104", "`all`", "read once for all tensors: `torch.stack(...).all()`"),
    "filter": row("104", "`filter`", "read once for all tensors: `torch.stack(...).tolist()`"),
    "sorted": row("104", "`sorted`", "sort on the GPU with `torch.sort`"),
    "list.sort": row("104", "`list.sort`", "sort on the GPU with `torch.sort`"),
    # results whose size depends on data
    "masked-where": row(
        "201",
        "a GPU scalar, or elements of another tensor, stored through a mask",
        "`{tensor}.copy_(torch.where({mask}, {value}, {tensor}))` keeps the shape and counts no elements",
    ),
    "masked-result": row(
        "201",
        "a result of the elements of a mask, stored through the same mask",
        "compute all elements and choose: `{tensor}.copy_(torch.where({mask}, {value}, {tensor}))`",
    ),
    "masked-change": row(
        "201",
        "a mask that limits `+=` or `-=`",
        "change all elements, by 0 outside of the mask: `{tensor} {operator} torch.where({mask}, {value}, 0)`",
    ),
    "masked-scatter": row(
        "201",
        "a tensor stored through a mask",
        "`{tensor}.masked_scatter_({mask}, {value})` stores the values in order and counts no elements; for values of the shape of `{tensor}`, use `torch.where`",
    ),
    "masked-sum": row(
        "201 203",
        "summed at once",
        "`torch.where({picked}, {tensor}, 0)` keeps the shape for a sum; for a mean, divide by `{mask}.sum()`",
    ),
    "masked-all": row(
        "201",
        "elements of several tensors read through the same mask",
        "compute with all elements, `{tensor}` in place of `{tensor}[{mask}]`, and choose where the result is stored or reduced: `torch.where({mask}, result, other)`",
    ),
    "distinct-count": row(
        "204",
        "the number of distinct values",
        "count on the GPU: `(torch.diff({tensor}.flatten().sort().values) != 0).sum() + 1`, if `{tensor}` has elements",
    ),
    "index-buffer": row(
        "305",
        "an attribute, uploaded in each call",
        "keep `{index}` as a tensor on the GPU: in a module as a buffer, which `module.to(device)` moves once",
    ),
    "index-mask": row(
        "305",
        "a mask in host memory",
        "index with the positions that `numpy.nonzero` finds on the host, copied from pinned memory with `non_blocking=True`; a mask on the GPU would be counted",
    ),
    "index-upload": row(
        "305",
        "a list or a tensor of the host",
        "build `{index}` on the GPU, or copy `{index}` from pinned memory with `non_blocking=True`",
    ),
    "bincount": row(
        "206",
        "`bincount`",
        "count into a known number of bins: `torch.zeros(bins, device=...).scatter_add_(0, ids, ones)`",
    ),
    "one_hot": row("206", "`one_hot`", "pass `num_classes`"),
    "index_put": row(
        "206",
        "`index_put` with a mask",
        "choose by the mask, with values of the tensor's shape: `torch.where(mask, values, tensor)`",
    ),
    "coalesce": row(
        "206",
        "`coalesce`",
        "coalesce once and keep the result; for indices that are sorted and distinct, pass `is_coalesced=True` to the constructor",
    ),
    "to_sparse": row(
        "206",
        "`to_sparse`",
        "keep the tensor dense on the GPU: the host counts the elements of each sparse tensor",
    ),
    "nms": row(
        "206",
        "`nms`",
        "call `torchvision.ops.batched_nms` once for all boxes: each call counts the boxes that remain",
    ),
    "isin": row("206", "`isin`", "compare with each value: `(a[:, None] == b).any(1)`"),
    # uploads
    "make-on-gpu": row("301 302", "created on the host and copied at once", "create the tensor on the GPU"),
    "upload": row("301 302", "created from host data", "copy from pinned memory with `non_blocking=True`"),
    "pinned": row("302", "in pinned memory", "add `non_blocking=True`: the source is in pinned memory"),
    "module": row(
        "302",
        "a new module",
        "create the module in `with torch.device({device}):`, which makes its parameters on the GPU, with other random numbers",
    ),
    "state": row(
        "302",
        "a state on the host",
        "keep the state on the GPU if it fits: clone its tensors, without `.cpu()`",
    ),
    "array": row(
        "301 302 303",
        "a NumPy array",
        "copy from pinned memory, if CUDA is available: `torch.as_tensor({array}).pin_memory().to({device}, non_blocking=True)`",
    ),
    "random": row(
        "302",
        "random numbers",
        "draw the numbers on the GPU with `device={device}`; the generator of the GPU draws other numbers",
    ),
    "rounded": row(
        "302",
        "fractions from `arange` or `linspace`",
        "create the tensor on the GPU with `device={device}`; the last bit may differ",
    ),
    "loader": row(
        "302 303",
        "a tensor from elsewhere",
        "create `{source}` in pinned memory (`DataLoader(pin_memory=True)`, or `pin_memory=True`), and copy with `{copy}`",
    ),
    "loader-of-others": row(
        "302",
        "what a loader gives, of unknown class",
        "create `{source}` in pinned memory (`DataLoader(pin_memory=True)`), and copy with `{copy}`, if `{source}` is a tensor: another class may not take `non_blocking`",
    ),
    "buffer": row(
        "302",
        "an attribute of a module, copied in each call",
        "register `{source}` as a buffer of the module, which `module.to(device)` moves once, or, above all if `{source}` is complex, keep the copy: `{source} = {copy}`",
    ),
    "buffer-behind": row(
        "302",
        "a part or a copy of an attribute of a module",
        "register `{source}` as a buffer of the module, which `module.to(device)` moves once, and drop this copy",
    ),
    "kept-copy": row(
        "302",
        "an attribute of an object that is no module, or a part of it, copied in each call",
        "keep a copy on the GPU in an attribute of its own, made anew only where `{source}` changes: `{copy}`",
    ),
    "made-above": row(
        "302",
        "a tensor made above in the function",
        "create `{source}` on the GPU, with `device={device}`, and drop this copy",
    ),
    "made-with-device": row("302 307", "made by a factory", "create the tensor on the GPU: `{made}`"),
    "held": row(
        "302",
        "an element of a list or a dictionary of an object, copied in each call",
        "copy `{source}` to the GPU once, where `{holder}` is filled, or keep the copy there: `{source} = {copy}`",
    ),
    "held-part": row(
        "302",
        "an element of an attribute of unknown class, copied in each call",
        "copy `{source}` to the GPU once, where `{holder}` is filled",
    ),
    "like": row(
        "302",
        "what a factory makes, for the type of another tensor",
        "create the tensor on the GPU: add `dtype={like}.dtype, device={like}.device` to the call that creates it",
    ),
    "constants": row(
        "301 302",
        "a list of constants",
        "create this tensor of constants once, and keep the tensor, in a module as a buffer; else copy from pinned memory with `non_blocking=True`",
    ),
    "constant": row(
        "301 302",
        "an attribute, uploaded in each call",
        "create the tensor of `{data}` once, and keep the tensor: in a module as a buffer, which `module.to(device)` moves",
    ),
    "host-reads": row(
        "301",
        "read back by the host",
        "use `{data}` itself, in place of a copy on the GPU: the function only reads the copy back",
    ),
    "indices-on-host": row(
        "202",
        "indices that the host reads",
        "copy the mask once, with `.tolist()`, and find the indices on the host, which reads them anyway",
    ),
    "maybe-constant": row(
        "301",
        "an attribute, beside a copy from pinned memory",
        "if `{data}` stays the same, create its tensor once, and keep the tensor: in a module as a buffer",
    ),
    "number": row("301 302", "a number", "create the tensor on the GPU: `{full}`"),
    "held-number": row(
        "301",
        "a number; a fill raises where the dtype cannot hold the number",
        "create the tensor on the GPU, if its dtype holds the number: `{full}`",
    ),
    "list-of-others": row(
        "301 302",
        "a list of unknown elements",
        "if the elements are numbers of the host, copy from pinned memory: `{pinned}`; join GPU scalars with `torch.stack`",
    ),
    "list": row("301 302", "a list", "copy from pinned memory, if CUDA is available: `{pinned}`"),
    "made-here": row(
        "302 303 305",
        "a tensor whose origin is known",
        "create the tensor on the GPU with `device=`, or copy from pinned memory with `non_blocking=True`",
    ),
    "pack": row(
        "302",
        "`pack_padded_sequence` and `pack_sequence`",
        "sort the batch by length beforehand, and leave `enforce_sorted=True`: the order is then not copied",
    ),
    "load": row("302", "`torch.load`", "load the file before the first step"),
    "operand": row("302", "an operand on the host", "create the tensor on the GPU with `device=`"),
    "number-operand": row(
        "302",
        "a number made a tensor",
        "use the number in place of the tensor, or create the tensor on the GPU with `device=`",
    ),
    "slice": row("305", "neighbouring rows", "use a slice, which is a view and needs no index: `{slice}`"),
    "rows": row("305", "a few rows", "use `torch.stack` of the rows, or create the index on the GPU once"),
    "fill-element": row(
        "306", "a number stored in a view", "fill the view on the GPU: `{place}.fill_({value})`"
    ),
    "fill-rows": row(
        "306",
        "a number stored in rows",
        "fill the rows on the GPU: `{tensor}.index_fill_(0, {index}.long(), {value})`",
    ),
    "store": row(
        "306",
        "a store with several indices",
        "store a tensor that the GPU fills: `{place} = torch.full((), {value}, dtype={tensor}.dtype, device={tensor}.device)`",
    ),
    "store-any": row(
        "306",
        "a store in what a call returns",
        "store a tensor that the GPU fills: `torch.full` with the dtype and the device of the tensor",
    ),
    "pin": row("303", "a source made on the spot", "create the source of the copy in pinned memory"),
    # error checks
    "cholesky": row(
        "502", "`cholesky`", "use `torch.linalg.cholesky_ex`, which returns the status on the GPU"
    ),
    "inv": row("502", "`inv`", "use `torch.linalg.inv_ex`, which returns the status on the GPU"),
    "solve": row("502", "`solve`", "use `torch.linalg.solve_ex`, which returns the status on the GPU"),
    "lu_factor": row(
        "502",
        "`lu_factor`",
        "use `torch.linalg.solve_ex`, which returns the status on the GPU; `lu_factor_ex` blocks too",
    ),
    "clip": row("502", "`clip_grad_norm_`", "test the returned norm later, or on the GPU"),
    "assert_close": row(
        "502",
        "`assert_close`",
        "compare in tests only, or test on the GPU: `torch._assert_async(torch.isclose(a, b).all())`",
    ),
    "scaler": row(
        "502",
        "`GradScaler.step`",
        "create the optimizer with `fused=True` (SGD, Adam, AdamW): its step takes the check on the GPU; or train in bfloat16, which needs no scaler",
    ),
    "sample": row(
        "502",
        "a sample of a distribution",
        "draw without the check of the parameters: `loc + scale * torch.randn_like(loc)`",
    ),
    "no-form": row(
        "502",
        "an operation that always checks",
        "move the call out of the step, or suppress the line: `{operation}` has no form without the check",
    ),
    "distribution": row("502", "a distribution", "pass `validate_args=False` to skip the check"),
    "distribution-method": row(
        "502",
        "a method of a distribution",
        "pass `validate_args=False` where the distribution is created: `{method}` then checks nothing",
    ),
    # explicit synchronization
    "timing": row(
        "401",
        "before `elapsed_time`",
        "read `elapsed_time` later, when `{event}.query()` is true: the time of a finished event needs no synchronization",
    ),
}


def suggest(name: str, **operands: str) -> str:
    """Return the text of a suggestion, with the source of operands in their places."""
    return TABLE[name].text.format(**operands)

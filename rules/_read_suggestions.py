"""The suggestions for reads from the GPU: numbers, truth and copies."""

from __future__ import annotations

from ._suggestion import Suggestion, row

_READS = "101 102 103 105 106"
OF_READS: dict[str, Suggestion] = {
    "append": row(
        "101 102 103 106",
        "appended to a list",
        "append `{tensor}`, and read the list once, after the loop: `torch.stack({list}).tolist()`",
    ),
    "sum": row(
        _READS,
        "added up",
        "add up on the GPU, `{statement}`, and read `{sum}` once, after the loop",
    ),
    "sum-long": row(
        _READS,
        "added up in a long statement",
        "add `{tensor}` to `{sum}` on the GPU, and read `{sum}` once, after the loop",
    ),
    "collect": row(
        "101 103 106",
        "read for each element of a comprehension",
        "collect the tensors, and read all of them with one copy: `torch.stack(tensors).tolist()`",
    ),
    "log": row(
        "101 102 103 106 107",
        "logged or printed in a loop",
        "keep `{tensor}`, and log all values with one `torch.stack(values).tolist()` every N steps or after the loop",
    ),
    "log-lazily": row(
        "107",
        "an f-string for the debug level",
        'pass the tensor to the logger, `{debug}("... %s", {tensor})`, which makes no text where the level is off',
    ),
    "metrics": row(
        "105",
        "passed to what records metrics, such as `SummaryWriter.add_scalar`",
        "log every N steps, all values with one copy: `torch.stack(values).tolist()`",
    ),
    "record": row(
        "101 103 106",
        "recorded under a text, or as a metric",
        "record `{tensor}`, and read all records with one `torch.stack(...).tolist()` where they are printed",
    ),
    "mirror": row(
        "101 103 106",
        "returned, of an attribute",
        "return the tensor; or, if the host knows what the program stores in `{tensor}`, keep a Python number beside it, and return the number",
    ),
    "lengths": row(
        "101 102 103 106",
        "a size or a range",
        "pass the Python numbers from which the host creates `{tensor}` along with the tensor, and compute the size from the numbers",
    ),
    "read-together": row(
        "101 103 106",
        "read beside another read",
        "read the numbers of these statements with one copy, `a, b = torch.stack([a, b]).tolist()`: the statement {beside} reads from the GPU, too",
    ),
    "host-has": row(
        "101 102 103 104 105 106",
        "made by the function from host data",
        "use `{data}`: the host has the numbers from which the function creates `{tensor}`",
    ),
    "copied-later": row(
        "101 103 104",
        "a check of what the function copies later",
        "move `{copy}` above this check, and check the copy: one wait in place of two",
    ),
    "random-number": row(
        "101 103 106",
        "a random number",
        "draw a number on the host with `random`, in place of `{tensor}`: nothing is then read from the GPU",
    ),
    "any-iteration": row(
        "101 103 104",
        "a loop that returns at the first true test",
        "collect the tests of all iterations in a list, and read `torch.stack(tests).any()` once, after the loop",
    ),
    "stop": row(
        "101 103 104",
        "the end of a loop",
        "if one more iteration does no harm, test one iteration later: copy `{test}` into pinned memory with `non_blocking=True`, and test the copy in the next iteration",
    ),
    "choose": row(
        "101 103 104",
        "a choice between two values",
        "choose on the GPU: `torch.where({test}, {new}, {old})`",
    ),
    "comparison": row(
        "103",
        "`torch.equal` or `torch.allclose`",
        "keep the answer on the GPU, as in `torch.isclose(a, b).all()`; or drop the test, if the work behind it changes nothing for equal tensors",
    ),
    "comparison-test": row(
        "103",
        "`torch.equal` or `torch.allclose` in a test",
        "drop the test, if the work behind it changes nothing for equal tensors; or compare what the host has",
    ),
    "asserted-close": row(
        "103",
        "`torch.allclose` in an assertion",
        "compare in tests or in a debug mode, or test on the GPU: `torch._assert_async(torch.isclose(a, b).all())`",
    ),
    "scale": row(
        "103",
        "the scale of a `GradScaler`",
        "train in bfloat16, which needs no scaler; to log the scale, read it every N steps",
    ),
    "guard": row(
        "101 103 104",
        "a guard of operations with a mask",
        "drop the test, and let the body run: `torch.where` and `masked_fill` change nothing if `{mask}` has no true element",
    ),
    "guard-all": row(
        "101 103 104",
        "a guard of work for incomplete masks",
        "drop the test, and let the body run: masked operations change nothing if `{mask}` has no false element",
    ),
    "optimizer-step": row(
        "101 103 104",
        "a decision about an optimizer step",
        "the host needs this decision before `{call}`: read the number once, before the test, and record the number. "
        "A second read of the tensor would also wait for the step",
    ),
    "decide-before": row(
        "101 103 104",
        "a decision of each iteration of a loop",
        "compute `{test}` for all iterations before the loop, and read the decisions with one `.tolist()`",
    ),
    "counter": row(
        "101 103 104",
        "a count that ends a loop",
        "keep a Python number beside `{tensor}`, changed in the lines that change the tensor, and test the number",
    ),
    "combine": row(
        "104",
        "tensors connected by `and` or `or`",
        "combine on the GPU, `{test}`, and read the result once",
    ),
    "iterate": row(
        _READS,
        "an element of a tensor in a loop over the tensor",
        "loop over `{iterable}.tolist()`: one read before the loop, and none inside",
    ),
    "iterate-flat": row(
        _READS,
        "an element, or a row of one element, of a tensor in a loop over the tensor",
        "loop over `{iterable}.flatten().tolist()`: one read before the loop, and none inside",
    ),
    "iterate-rows": row(
        _READS,
        "a result for each row in a loop over a tensor",
        "call `{operation}` for all rows of `{iterable}` at once (`dim=-1`), and call `.tolist()` once before the loop",
    ),
    "hoist": row(
        _READS,
        "the same read in each iteration of a loop",
        "read `{read}` once, before the loop: the value is the same in all iterations",
    ),
    "elements": row(
        _READS,
        "an element of a tensor from before the loop",
        "call `{tensor}.tolist()` once before the loop, and take the elements of the list",
    ),
    "copy-before-loop": row(
        "105",
        "parts of a tensor, copied one by one",
        "copy once before the loop, `{iterable}.cpu()`, and take the parts of the copy",
    ),
    "append-copy": row(
        "102 105",
        "copied and appended to a list",
        "append `{tensor}`, and copy what is in `{list}` after the loop, with `non_blocking=True` and one synchronization for all",
    ),
    "elements-once": row(
        "101 102 103 105 106",
        "one of several elements of a tensor that a function reads",
        "read `{tensor}.tolist()` once, and take the numbers from the list",
    ),
    "mirror-copy": row(
        "102 105",
        "an attribute of the object",
        "keep a copy on the host beside `{tensor}`, started in the lines that set or change the tensor, and use the copy",
    ),
    "copy-together": row(
        "102 105",
        "copied beside another copy",
        'queue this copy and that of the statement {beside} with `.to("cpu", non_blocking=True)`, and synchronize once for both',
    ),
    "used-at-once": row(
        "102 105",
        "used at once",
        "the host uses the copy at once, so a later wait gains nothing: keep this work on the GPU, or take data that the host has",
    ),
    "read-inside": row(
        "101 103 106",
        "used in one branch alone",
        "move the read into the branch that uses the number, `if {test}:`",
    ),
    "warned": row(
        "101 103 104",
        "to warn, to log or to print",
        "warn where the host has the data, or where the program logs its metrics, with one read for many steps",
    ),
    "store-in-loop": row(
        "105",
        "stored in a host tensor in a loop",
        "create `{store}` on the GPU with `device=`, and copy `{store}` to the host once, after the loop",
    ),
    "takes-tensor": row(
        "101 103",
        "passed to an operation that reads the value on the GPU",
        "pass the tensor itself to `{operation}`, which reads the value on the GPU",
    ),
    "fill": row(
        "101 103",
        "passed to `fill_`",
        "pass the tensor itself to `fill_`, which reads the value on the GPU, as in `syncscan recipe show pad_logits_indices`",
    ),
    "index-tensor": row(
        "102 105",
        "an index",
        "index with `{tensor}` itself: the GPU holds the index",
    ),
    "grouped": row(
        "201 202",
        "the rows of one value in each iteration of a loop over values",
        "sort once before the loop, `order = keys.argsort(stable=True)`, and read `keys.bincount(minlength=n).tolist()` once: the rows of each value are a slice of `order`",
    ),
    "range-formula": row(
        "301 302",
        "numbers computed from a range",
        "compute the numbers on the GPU, from `torch.arange({bounds}, device={device})`",
    ),
    "range": row("301", "a range", "create the tensor on the GPU: `torch.arange({bounds}, device={device})`"),
    "max-of-one": row("104", "`max` of the elements of a tensor", "reduce on the GPU: `{tensor}.max()`"),
    "min-of-one": row("104", "`min` of the elements of a tensor", "reduce on the GPU: `{tensor}.min()`"),
    "store-on-gpu": row(
        "105",
        "stored in a tensor made above",
        "create `{store}` on the GPU, with `device=`",
    ),
    "asserted": row(
        "101 103 104",
        "in an assertion",
        "test on the GPU with `torch._assert_async(condition)`, or move the check to a test or a debug mode",
    ),
    "raised": row(
        "101 103 104",
        "to raise an error",
        "check where the host has the data, or in a debug mode; `torch._assert_async` tests on the GPU, and its error ends the process",
    ),
    "pickle": row(
        "105",
        "pickled",
        "pickle host data: copy the GPU tensor into pinned memory before, and synchronize as late as possible",
    ),
}

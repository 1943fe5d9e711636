"""A tensor made from Python or NumPy data straight on the GPU is copied there, which blocks the CPU.

`torch.tensor(data, device="cuda")`, `torch.as_tensor` and `x.new_tensor(data)` build the tensor in pageable
memory. The copy synchronizes the stream, even for a single number.

**Stays silent** on

- `torch.full`, `zeros`, `ones` and `arange`, which are launched on the GPU without a copy;
- a tensor that stays in host memory;
- data that is a GPU tensor, or an empty list;
- literals and sizes in functions that only run compiled, where `torch.compile` makes constants of them.

**Fix.** A number written out, or one of two, becomes `torch.full((), number, device=...)`: same value, same dtype, no copy. That is safe for

- a number without a dtype (a float up to 65504);
- an integer from 0 to 127 with any dtype;
- a number that a dtype written out holds (`-1` of `torch.int32`, `0.5` of `torch.float32`).

The fix is unsafe for a variable that holds an integer, without a dtype or with a wide one: `torch.tensor` keeps the dtype of a
NumPy number, `torch.full` does not. The fix is unsafe for a float from 0 to 127 with another dtype: `torch.tensor` refuses `0.5`
of `torch.uint64`, `torch.full` does not. Larger numbers are infinite in one and an error in the other. `[number] * n` becomes
`torch.full((n,), number)` if `n` is a
number written out, or a `len()` with a given dtype: `torch.tensor` cannot tell the dtype of an empty list.

Lists and other numbers are made in pinned memory and copied without blocking. The pinned memory stays until the
copy is done, so the temporary needs no care. Pinning needs CUDA. If the device may be the CPU, the fix asks `x.is_cuda` for the device
of a tensor `x`, else `torch.cuda.is_available()`. `torch.tensor` pins no array: an array gets `.pin_memory()`, and only where the
device is surely a GPU. A list is pinned only if the function itself makes it, for others may be arrays or tensors. Its elements have to
be known as numbers of the host: `torch.tensor` reads GPU scalars one by one, pinned or not (SYN106).

Pinning is unsafe: with `torch.cuda.is_available()`, a tensor for the CPU uses CUDA, too. A process forked from one that has used
CUDA cannot use CUDA itself, such as a worker of a `DataLoader`. TorchScript knows no `pin_memory`. With any fix, the call returns before
the tensor is ready: another stream that reads the tensor has to wait for this one.
"""

import ast

from syncscan.model import Applicability, Kind
from syncscan.ops import Effect
from syncscan.rule import Example, Facts, Match, Rewrite, Rule

from ._code import CallCode
from ._constants import is_constant
from ._data import are_constants, of_constants, of_data, of_new, of_numbers
from ._held import is_read_back
from ._numbers import fills_alike, fills_exactly, is_length
from ._parts import line_of
from ._pinned import cuda_check, has_plain_kind, holds_host_numbers, is_plain_data, is_surely_gpu
from ._shared import (
    CONSTRUCTORS,
    blocking_call,
    certain,
    filled,
    keywords_of,
    shown,
    unpacks,
)
from ._suggestions import suggest

_KEPT_BY_FULL = {"dtype", "device", "requires_grad"}


class BlockingConstructor(Rule):
    code = "SYN301"
    name = "blocking-constructor"
    summary = "a tensor is built from host data straight on the GPU"
    instead = "use `torch.full` for a number, else a pinned tensor and `.to(device, non_blocking=True)`"
    nodes = (ast.Call,)
    examples = (
        Example(
            bad="""\
import torch

scale = torch.tensor(1.0, device="cuda")  # expect: SYN301
none = torch.tensor(-1, dtype=torch.int32, device="cuda:0")  # expect: SYN301
least = torch.tensor(-float("inf"), device="cuda")  # expect: SYN301
""",
            fixed="""\
import torch

scale = torch.full((), 1.0, device="cuda")
none = torch.full((), -1, dtype=torch.int32, device="cuda:0")
least = torch.full((), -float("inf"), device="cuda")
""",
        ),
        Example(
            bad="""\
import torch

rows = torch.zeros(8, 4, device="cuda")
count = torch.tensor(rows.shape[0], device="cuda")  # expect: SYN301
ends = torch.tensor([len(rows)], dtype=torch.int32, device="cuda")  # expect: SYN301
""",
            fixed="""\
import torch

rows = torch.zeros(8, 4, device="cuda")
count = torch.full((), rows.shape[0], device="cuda")
ends = torch.full((1,), len(rows), dtype=torch.int32, device="cuda")
""",
        ),
        Example(
            bad="""\
import torch

bits = 4
levels = (1 << bits) - 1
most = torch.tensor(levels, device="cuda")  # expect: SYN301
flag = torch.tensor(0.0 if bits else 1.0, device="cuda")  # expect: SYN301
""",
            fixed="""\
import torch

bits = 4
levels = (1 << bits) - 1
most = torch.full((), levels, device="cuda")
flag = torch.full((), 0.0 if bits else 1.0, device="cuda")
""",
        ),
        Example(
            bad="""\
import torch

lens = [3, 1, 2]
starts = torch.tensor(lens, dtype=torch.int32, device="cuda")  # expect: SYN301
ends = torch.tensor(  # expect: SYN301
    [n + 1 for n in lens],
    device="cuda",
)
""",
            fixed="""\
import torch

lens = [3, 1, 2]
starts = torch.tensor(lens, dtype=torch.int32, device="cpu", pin_memory=True).to("cuda", non_blocking=True)
ends = torch.tensor(
    [n + 1 for n in lens],
    device="cpu",
    pin_memory=True,
).to("cuda", non_blocking=True)
""",
        ),
        Example(
            bad="""\
import numpy as np
import torch


def upload(ids: np.ndarray) -> torch.Tensor:
    return torch.tensor(ids, device="cuda")  # expect: SYN301


def starts(count: int, where: torch.device) -> torch.Tensor:
    ids = [3, 1, count]
    return torch.tensor(ids, device=where)  # expect: SYN301


upload(np.arange(8))
starts(2, torch.device("cuda"))
""",
            fixed="""\
import numpy as np
import torch


def upload(ids: np.ndarray) -> torch.Tensor:
    return torch.tensor(ids, device="cpu").pin_memory().to("cuda", non_blocking=True)


def starts(count: int, where: torch.device) -> torch.Tensor:
    ids = [3, 1, count]
    return torch.tensor(ids, device="cpu", pin_memory=torch.cuda.is_available()).to(where, non_blocking=True)


upload(np.arange(8))
starts(2, torch.device("cuda"))
""",
        ),
        Example(
            bad="""\
import numpy as np
import torch

weights = torch.as_tensor(np.ones(8), device="cuda")  # expect: SYN301
more = weights.new_tensor([1.0, 2.0])  # expect: SYN301
"""
        ),
        Example(
            good="""\
import torch

lens = [3, 1, 2]
scale = torch.full((), 1.0, device="cuda")
zero = torch.zeros((), device="cuda")
order = torch.arange(8, device="cuda")
host = torch.tensor(lens)
pinned = torch.tensor(lens, pin_memory=True)
starts = pinned.to("cuda", non_blocking=True)
same = torch.as_tensor(order, device="cuda")
"""
        ),
    )

    def match(self, node: ast.AST, facts: Facts) -> Match | None:
        call = blocking_call(node, facts, Effect.UPLOAD, CONSTRUCTORS)
        data = facts.argument(call, "data") if call is not None else None
        if call is None or data is None or facts.of(data).is_gpu or _is_empty(data):
            return None
        message = f"Copying {shown(data, facts)} from pageable memory to the GPU synchronizes the stream"
        return Match(
            call,
            message,
            facts.of(call),
            _hint(call, data, facts),
            _rewrite(call, data, facts),
            folds=is_constant(data),
        )


def _hint(call: ast.Call, data: ast.expr, facts: Facts) -> str:
    device, text = facts.argument(call, "device"), facts.source(data)
    if read_back := _of_data_read_back(call, data, facts):
        return read_back
    if "\n" in text:
        return suggest("constants") if are_constants(data, call, facts) else ""
    if device is None:
        return of_new(call, data, facts)
    kind = facts.of(data).kind
    may_be_array = has_plain_kind(data, facts) and not is_plain_data(data, facts)
    if may_be_array and facts.name_of(call.func) == "torch.tensor":
        said = of_numbers(data, call, facts.source(device), facts) or of_constants(data, call, facts)
        if said:
            return said
    is_array = kind is Kind.NDARRAY or (may_be_array and kind is not Kind.NUMBER)
    if is_array and isinstance(data, (ast.Name, ast.Attribute)):
        dtype = facts.argument(call, "dtype")
        dtype_text = f", {facts.source(dtype)}" if dtype is not None else ""
        return suggest("array", array=text, device=f"{facts.source(device)}{dtype_text}")
    return of_data(call, data, facts.source(device), facts)


def _of_data_read_back(call: ast.Call, data: ast.expr, facts: Facts) -> str:
    return suggest("host-reads", data=line_of(data, facts) or "the data") if is_read_back(call, facts) else ""


def _is_empty(data: ast.expr) -> bool:
    """Return whether a node is a literal list or tuple without an element: there is nothing to copy."""
    return isinstance(data, (ast.List, ast.Tuple)) and not data.elts


def _rewrite(call: ast.Call, data: ast.expr, facts: Facts) -> Rewrite | None:
    full = filled(call, facts)
    if facts.name_of(call.func) != "torch.tensor" or full is None:
        return None
    device = facts.argument(call, "device")
    keywords = keywords_of(call)
    if device is None or unpacks(call) or not keywords <= _KEPT_BY_FULL:
        return None
    read_back = _of_data_read_back(call, data, facts)
    if fills_alike(data, call, facts):
        return Rewrite(
            call,
            full.text(),
            read_back or suggest("make-on-gpu"),
            certain(fills_exactly(data, call, facts), facts.of(data)),
        )
    if "requires_grad" in keywords:
        return None
    repeated = _repeated(data, call, facts)
    if repeated is not None:
        return Rewrite(call, _filled(full, *repeated).text(), suggest("make-on-gpu"), Applicability.UNSAFE)
    upload = _pinned_upload(call, data, device, facts)
    if upload is None:
        return None
    said = read_back or of_numbers(data, call, facts.source(device), facts) or of_constants(data, call, facts)
    said = said or suggest("upload")
    return Rewrite(call, upload, said, Applicability.UNSAFE, suggest("upload"))


def _repeated(data: ast.expr, call: ast.Call, facts: Facts) -> tuple[str, str] | None:
    """Return the shape and the number of ``[v]`` and ``[v] * n``, where `torch.full` has the same dtype.

    `torch.tensor` cannot infer the dtype of no element, and a list repeated by a negative number is empty, too.
    """
    item, count, is_empty = data, "1", False
    if isinstance(data, ast.BinOp) and isinstance(data.op, ast.Mult):
        item, count, is_empty = data.left, facts.source(data.right), _may_be_none(data.right)
        if not _is_count(data.right, facts):
            return None
    if not isinstance(item, ast.List) or len(item.elts) != 1:
        return None
    number = item.elts[0]
    is_float = isinstance(number, ast.Constant) and type(number.value) is float
    if is_empty and not is_float and facts.argument(call, "dtype") is None:
        return None
    return (f"({count},)", facts.source(number)) if fills_alike(number, call, facts) else None


def _is_count(times: ast.expr, facts: Facts) -> bool:
    """Return whether a number is never negative: a literal, or a length."""
    return is_length(times, facts) or (isinstance(times, ast.Constant) and type(times.value) is int)


def _may_be_none(count: ast.expr) -> bool:
    return not isinstance(count, ast.Constant) or count.value == 0


def _filled(full: CallCode, shape: str, number: str) -> CallCode:
    return full.edited(full.call.args[0], f"{shape}, {number}")


def _pinned_upload(call: ast.Call, data: ast.expr, device: ast.expr, facts: Facts) -> str | None:
    """Return the code that creates the source in pinned memory and copies it; None where the device may be None.

    Nor is there a code for data that may hold GPU scalars, which `torch.tensor` reads. None stands for the default device. An array becomes a tensor first, and is pinned where CUDA is surely
    available.
    """
    has_cuda = is_surely_gpu(device, facts)
    may_be_none = not has_cuda and facts.of(device).kind is Kind.UNION
    if may_be_none or not holds_host_numbers(data, facts):
        return None
    on_host = CallCode(call, facts).with_argument("device", '"cpu"')
    if is_plain_data(data, facts):
        flag = "True" if has_cuda else cuda_check(call, device, facts)
        pinned = on_host.with_argument("pin_memory", flag).text() if flag is not None else None
    else:
        pinned = f"{on_host.text()}.pin_memory()" if has_cuda else None
    return f"{pinned}.to({facts.source(device)}, non_blocking=True)" if pinned is not None else None

"""Calls from torch's own database of operations, with its sample inputs."""

from __future__ import annotations

import functools
import importlib
import inspect
import itertools
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import BuiltinFunctionType, FunctionType
from typing import Any

from syncscan.errors import SyncscanError
from syncscan.measure.describe import describe, tensors_in
from syncscan.measure.handwritten import sheets
from syncscan.measure.probe import Probe, bind_in_order
from syncscan.ops import Operation

SAMPLES = 6  # calls measured per entry in its main dtype, spread over the first CONSIDERED samples
CONSIDERED = 60
EXTRA_DTYPES = ("int64", "bool")  # one more call each, where supported: they show the dtype of the result
MAIN_DTYPES = ("float32", "int64", "bool", "complex64", "bfloat16")

LEFT_OUT = {
    "normal.in_place": "is `torch.Tensor.normal_` under the name of `torch.normal`",
    "jiterator_": "compiles a kernel of the user's: what it does depends on that kernel",
}


@functools.cache
def entries() -> dict[str, Any]:
    """Return every entry of op_db by its full name ("max.binary"); needs torch and expecttest."""
    try:
        from torch.testing._internal.common_methods_invocations import op_db  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise SyncscanError(
            f"torch's database of operations needs {error.name}: pip install 'syncscan[measure]'"
        ) from error
    return {entry.full_name: entry for entry in op_db}


def left_out(name: str) -> str | None:
    """Return the reason why the campaign does not measure an entry, or None."""
    return next((reason for start, reason in LEFT_OUT.items() if name.startswith(start)), None)


def public_name(full_name: str) -> str:
    """Return the public name of the operation that an entry is about."""
    name = entries()[full_name].name
    return public_function(name)[0] or f"torch.{name}"


def aliases() -> dict[str, tuple[str, ...]]:
    """Return the other full names of each operation, such as ``torch.concat`` of ``torch.cat``, by its public name.

    op_db lists them; so are the functions that a module has from another.
    """
    found: dict[str, set[str]] = defaultdict(set)
    for full_name, entry in entries().items():
        for alias in entry.aliases:
            name, function = public_function(alias.name.removeprefix("torch."))
            if function is not None:
                found[public_name(full_name)].add(name)
    for public, other in _SAME_FUNCTIONS:
        there = vars(importlib.import_module(other))
        for name, function in vars(importlib.import_module(public)).items():
            if type(function) in _FUNCTIONS and there.get(name) is function:
                found[f"{public}.{name}"].add(f"{other}.{name}")
    return {name: tuple(sorted(others)) for name, others in found.items()}


def with_aliases(operations: Mapping[str, Operation]) -> dict[str, Operation]:
    """Return operations with their other names, but for those that have an entry of their own."""
    known = aliases()
    return {
        name: replace(each, aliases=tuple(other for other in known.get(name, ()) if other not in operations))
        for name, each in operations.items()
    }


_FUNCTIONS = (FunctionType, BuiltinFunctionType)
# The second module of each pair re-exports functions of the first.
_SAME_FUNCTIONS = (
    ("torch", "torch.random"),
    ("torch.cuda", "torch.cuda.graphs"),
    ("torch.cuda", "torch.cuda.memory"),
    ("torch.cuda", "torch.cuda.random"),
    ("torch.distributed", "torch.distributed.distributed_c10d"),
    ("torch.nn.functional", "torch"),
    ("torch.nn.utils", "torch.nn.utils.clip_grad"),
    ("torch.nn.utils", "torch.nn.utils.convert_parameters"),
)


@dataclass(frozen=True, slots=True)
class SampleCall:
    """A function and its arguments."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]

    def probe(self, op: str, code: str) -> Probe:
        """Return the probe that makes this call; a sheet of the operation names its parameters."""
        sheet = sheets().get(op)
        is_public = self.function is public_function(op.removeprefix("torch."))[1]
        names = sheet.args if sheet and is_public else parameter_names(self.function, len(self.arguments))
        operands = bind_in_order(names, self.arguments) | self.keywords
        call = functools.partial(self.function, *self.arguments, **self.keywords)
        return Probe(op, code, operands, call, names=tuple(names) if is_public else ())

    def works(self) -> bool:
        """Return whether the function takes these arguments."""
        try:
            self.function(*self.arguments, **self.keywords)
        except (TypeError, RuntimeError, ValueError, IndexError):
            return False
        return True


def probes(full_name: str, device: str) -> Iterator[Probe]:
    """Yield the calls of one entry: samples, the first on the host too, and its numbers as GPU scalars."""
    entry = entries()[full_name]
    name, function = public_name(full_name), public_function(entry.name)[1]
    varied: set[int | str] = set()
    shown_on_host = False
    for dtype, index, sample in _samples(entry, device):
        call = _call(function, entry, sample)
        code = f"op_db {full_name} {dtype} sample {index}"
        yield call.probe(name, code)
        if not shown_on_host:
            shown_on_host = True
            yield _on_host(call).probe(name, f"{code} on the host")
        for place, variant in _with_gpu_scalars(call, varied, device):
            yield variant.probe(name, f"{code} with {place} on the GPU")


def _call(function: Callable[..., Any] | None, entry: Any, sample: Any) -> SampleCall:
    """Return a call of the public function: op_db often wraps that function to seed generators."""
    arguments = (sample.input, *sample.args)
    if function is not None and (call := SampleCall(function, arguments, sample.kwargs)).works():
        return call
    return SampleCall(entry.op, arguments, sample.kwargs)


def _on_host(call: SampleCall) -> SampleCall:
    from torch.utils._pytree import tree_map  # noqa: PLC0415

    arguments, keywords = tree_map(_to_host, (call.arguments, call.keywords))
    return SampleCall(call.function, arguments, keywords)


def _to_host(value: Any) -> Any:
    import torch  # noqa: PLC0415

    if isinstance(value, torch.Tensor):
        return value.cpu()  # syncscan: ignore[SYN105] prepares a sample, once
    is_place = isinstance(value, torch.device) or (isinstance(value, str) and value.startswith("cuda"))
    return "cpu" if is_place else value


def _with_gpu_scalars(
    call: SampleCall, varied: set[int | str], device: str
) -> Iterator[tuple[int | str, SampleCall]]:
    """Yield the call with each number that was not varied yet as a GPU tensor of no dimensions."""
    import torch  # noqa: PLC0415

    for position, value in enumerate(call.arguments):
        if position not in varied and _is_number(value):
            varied.add(position)
            changed = (
                *call.arguments[:position],
                torch.tensor(value, device=device),
                *call.arguments[position + 1 :],
            )
            yield position, SampleCall(call.function, changed, call.keywords)
    for name, value in call.keywords.items():
        if name not in varied and _is_number(value):
            varied.add(name)
            # syncscan: ignore[SYN301] prepares a sample, once
            keywords = call.keywords | {name: torch.tensor(value, device=device)}
            yield name, SampleCall(call.function, call.arguments, keywords)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _samples(entry: Any, device: str) -> Iterator[tuple[str, int, Any]]:
    import torch  # noqa: PLC0415

    supported = entry.supported_dtypes(torch.device(device).type)
    dtypes = [name for name in MAIN_DTYPES if getattr(torch, name) in supported]
    if not dtypes:
        raise ValueError(f"no dtype among {', '.join(MAIN_DTYPES)}")
    for dtype in dtypes[:1] + [name for name in EXTRA_DTYPES if name in dtypes[1:]]:
        torch.manual_seed(0)
        wanted = SAMPLES if dtype == dtypes[0] else 1
        samples = itertools.islice(entry.sample_inputs(device, getattr(torch, dtype)), CONSIDERED)
        telling = _without_shortcuts(list(enumerate(samples)))
        yield from ((dtype, index, sample) for index, sample in _spread(telling, wanted))


def _without_shortcuts(samples: list[tuple[int, Any]]) -> list[tuple[int, Any]]:
    """Return the samples without empty tensors, if any: work on no elements often returns at once."""
    telling = [
        (i, s)
        for i, s in samples
        if all(t["bytes"] for t in tensors_in(describe([s.input, s.args, s.kwargs])))
    ]
    return telling or samples


def _spread(samples: list[tuple[int, Any]], wanted: int) -> list[tuple[int, Any]]:
    """Return as many samples as wanted, evenly, the first and the last among them."""
    last = len(samples) - 1
    return [
        samples[place]
        for place in sorted({round(k * last / max(1, wanted - 1)) for k in range(wanted)})
        if samples
    ]


@functools.cache
def public_function(name: str) -> tuple[str, Callable[..., Any] | None]:
    """Return the public name and the function of an op_db name: of torch, else a method of tensors, else of aten."""
    import torch  # noqa: PLC0415

    if (aten := name.removeprefix("torch.").removeprefix("ops.aten.")) != name:
        return f"torch.ops.aten.{aten}", _attribute(torch.ops.aten, aten)
    candidates = (
        (torch, "torch", name),
        (torch.Tensor, "torch.Tensor", name),
        (torch.Tensor, "torch.Tensor", f"{name}_"),
    )
    for root, prefix, spelled in candidates:
        if callable(found := _attribute(root, spelled)):
            return f"{prefix}.{spelled}", found
    return "", None


def _attribute(root: Any, path: str) -> Any:
    for part in path.split("."):
        root = getattr(root, part, None)
    return root


@functools.cache
def parameter_names(function: Callable[..., Any], count: int) -> list[str]:
    """Return the names of the positional parameters as a caller writes them; the first of a method is "input"."""
    names = _signature_names(function)
    if not names:
        documented, declared = _documented_names(function), _schema_names(function)
        known = documented[:1]
        names = documented if len(documented) >= len(declared) else [*known, *declared[len(known) :]]
    names = ["input" if name == "self" else name for name in names]
    return names + [f"argument{i}" for i in range(len(names), count)]


def _signature_names(function: Callable[..., Any]) -> list[str]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    kinds = inspect.Parameter
    stars = {kinds.POSITIONAL_ONLY: "", kinds.POSITIONAL_OR_KEYWORD: "", kinds.VAR_POSITIONAL: "*"}
    return [stars[p.kind] + p.name for p in parameters if p.kind in stars]


def _documented_names(function: Callable[..., Any]) -> list[str]:
    """Return the names in the first line of the docstring, "isin(elements, test_elements, *, invert=False) -> Tensor"."""
    found = re.match(r"\s*[\w.]+\((.*?)\)\s*(->|$)", (function.__doc__ or "").strip().split("\n")[0])
    if found is None:
        return []
    parts = [part.split("=")[0].split(":")[0].strip() for part in re.split(r",\s*(?![^(\[]*[)\]])", found[1])]
    names = list(itertools.takewhile(lambda part: part.isidentifier(), parts))
    is_method = type(function).__name__ == "method_descriptor"
    return ["input", *names] if is_method else names


def _schema_names(function: Callable[..., Any]) -> list[str]:
    """Return the names in the aten overload with the most positional parameters."""
    import torch  # noqa: PLC0415

    operator = getattr(torch.ops.aten, str(getattr(function, "__name__", "")), None)
    if not isinstance(operator, torch._ops.OpOverloadPacket):
        return []
    schemas = [getattr(operator, name)._schema for name in operator.overloads()]
    positional = [[a.name for a in schema.arguments if not a.kwarg_only] for schema in schemas]
    return max(positional, key=len, default=[])

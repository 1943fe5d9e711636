"""Stubs against the packages that are installed: parameters, callbacks, and calls on the simulated GPU.

    python -m benchmarks.stubs [PACKAGE ...]

Imports each package of ``rules/stubs`` that is installed. The parameters of an entry have to be those of the API, its callbacks parameters
or methods. Its examples are called with tensors on the simulated GPU: whether the call blocks, and where its result and what that holds live,
has to be what the entry says for such arguments. Prints counts by package and each difference, and fails where there is one.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.metadata
import inspect
import io
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch.distributions import Distribution

from syncscan import count_syncs, simulated_cuda
from syncscan.check.infer.transfer.conditions import Bound, blocking_case
from syncscan.measure.operands import Operands
from syncscan.model import Device, Kind, Value
from syncscan.ops import by_parameter, stubs
from syncscan.ops.stubs import Stub

OPERANDS = {
    "images": "torch.rand(2, 3, 4, 4)",
    "boxes": "torch.tensor([[0.0, 0.0, 2.0, 2.0], [1.0, 1.0, 3.0, 3.0]])",
    "scores": "torch.tensor([0.5, 0.9])",
    "classes": "torch.tensor([0, 1])",
    "loss": "torch.tensor(0.5)",
}  # beside those of `syncscan.measure.operands`, on the GPU; with "cpu_" before it on the host
_MOST_LOOKED_AT = 8  # of the items of a result


def main() -> None:
    """Print what the examples of each installed package show."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("package", nargs="*", metavar="PACKAGE")
    asked = parser.parse_args().package or sorted(stubs.packages())
    print("| package | reviewed | installed | entries | with examples | examples | differences |")
    print("|---|---|---|---|---|---|---|")
    found: list[str] = []
    for package in asked:
        entries = stubs.load(package)
        examples = {example for stub in entries.values() for example in stub.examples}
        known = [
            f"{len(entries)}",
            f"{sum(bool(stub.examples) for stub in entries.values())}",
            f"{len(examples)}",
        ]
        installed = version(package)
        differences = list(differences_of(package)) if installed else []
        cells = [
            package,
            next(iter(entries.values())).reviewed,
            installed or "-",
            *known,
            f"{len(differences)}" if installed else "-",
        ]
        print(f"| {' | '.join(cells)} |", flush=True)
        found += differences
    if found:
        sys.exit("\n".join(found))


def version(package: str) -> str:
    """Return the release of a package that is installed, or nothing; operations that a package registers are measured elsewhere."""
    if package.startswith("torch.ops."):  # by `benchmarks.vllm_operations`
        return ""
    root = package.partition(".")[0]
    try:
        importlib.import_module(package)
    except ImportError:  # of the package, or of one that it needs
        return ""
    names = importlib.metadata.packages_distributions().get(root, [root])
    return importlib.metadata.version(names[0]).partition("+")[0]


def differences_of(package: str) -> Iterator[str]:
    """Return the differences between the stubs of a package and the package."""
    entries = stubs.load(package)
    for name, stub in entries.items():
        yield from (f"{name}: {said}" for said in parameters_differ(package, name, stub))
    examples = {
        example: stub for stub in reversed(entries.values()) for example in stub.examples
    }  # one of an API's names
    with (
        simulated_cuda(),
        warnings.catch_warnings(),
        validated_distributions(),
        tempfile.TemporaryDirectory() as folder,
    ):
        warnings.simplefilter("ignore")
        names = operands(package)
        names["folder"] = folder
        for example, stub in examples.items():
            yield from (f"{example}: {said}" for said in example_differs(package, stub, example, names))


@contextmanager
def validated_distributions() -> Iterator[None]:
    """Let distributions check their parameters, as they do until `torch.compile` is first used in a process."""
    before = Distribution._validate_args
    Distribution.set_default_validate_args(True)
    try:
        yield
    finally:
        Distribution.set_default_validate_args(before)


# What an entry says of the API itself


def found_in(package: str, name: str) -> Any:
    """Return the object of a full name."""
    found = importlib.import_module(package)
    for part in name.removeprefix(f"{package}.").split("."):
        found = getattr(found, part, None) or importlib.import_module(f"{found.__name__}.{part}")
    return found


def parameters_of(api: Any) -> list[str] | None:
    """Return the names of the parameters by position; None where the signature does not say them."""
    try:
        signature = inspect.signature(api).parameters.values()
    except (TypeError, ValueError):  # of C++
        return None
    if any(each.kind is each.VAR_POSITIONAL for each in signature):
        return None
    return [each.name for each in signature]


def parameters_differ(package: str, name: str, stub: Stub) -> Iterator[str]:
    """Return how the parameters and callbacks of an entry differ from those of its API."""
    if "*" in name:
        return
    try:
        api = found_in(package, name)
    except (AttributeError, ImportError) as error:
        yield f"is not there ({error})"
        return
    parameters, args = parameters_of(api), stub.operation.args
    is_open = parameters is None or any(arg.startswith("*") for arg in args)
    if parameters is not None and not is_open and list(args) != parameters[: len(args)]:
        yield f"has the parameters {', '.join(parameters)}, and the stub {', '.join(args)}"
    for callback in stub.callbacks:
        if not hasattr(api, callback.name) and callback.name not in (parameters or ()):
            yield f"has neither a parameter nor a method {callback.name}"


# What an example shows


def example_differs(package: str, stub: Stub, example: str, names: Any) -> Iterator[str]:
    """Return how a call on the simulated GPU differs from what its entry says of it."""
    try:
        callee, args, kwargs = arguments_of(package, example, names)
        blocked, result = called(callee, args, kwargs)
    except Exception as error:  # of any package
        yield f"fails: {type(error).__name__}: {error}"
        return
    if stub.operation.args[:1] == ("self",):
        args = [callee.__self__, *args]
    passed = [value_of(each) for each in args], {key: value_of(each) for key, each in kwargs.items()}
    case = blocking_case(Bound.of(stub.operation, *passed))
    if blocked is not (case is not None):
        yield "blocks" if case is None else f"does not block as `{case.effect.value}`"
    given = by_parameter(stub.operation.args, args, kwargs)[0]
    yield from result_differs(stub, given, [*args, *kwargs.values()], result)


def arguments_of(package: str, example: str, names: Any) -> tuple[Any, list[Any], dict[str, Any]]:
    """Return what an example calls and what it passes, all of it made."""
    call = ast.parse(example, mode="eval").body
    if not isinstance(call, ast.Call):
        raise ValueError("an example is a call")
    found_in(package, example.partition("(")[0])  # imports the modules that it names

    def made(node: ast.expr) -> Any:
        return eval(compile(ast.Expression(node), "example", "eval"), {}, names)  # noqa: S307 (of our own files)

    return (
        made(call.func),
        [made(arg) for arg in call.args],
        {each.arg or "": made(each.value) for each in call.keywords},
    )


def operands(package: str) -> Any:
    """Return the names that an example may use."""
    names = Operands("cuda")
    for name, text in OPERANDS.items():
        names[f"cpu_{name}"] = eval(text, {"torch": torch})  # noqa: S307 (of this file)
        names[name] = names[f"cpu_{name}"].to("cuda")
    names["array"], names["array2d"], names["file"] = np.ones(4), np.ones((4, 4)), io.BytesIO()
    importlib.import_module(package)
    root = package.partition(".")[0]
    names[root] = importlib.import_module(root)
    return names


def called(callee: Any, args: list[Any], kwargs: dict[str, Any]) -> tuple[bool, Any]:
    """Return whether a call blocks, and its result."""
    with count_syncs() as seen:
        result = callee(*args, **kwargs)
    return bool(seen.total), result


def result_differs(
    stub: Stub, given: Mapping[str, tuple[Any, ...]], args: list[Any], result: Any
) -> Iterator[str]:
    """Return how a result differs from what its entry says of it."""
    operation = stub.operation
    parts = list(result) if operation.count != 1 else [result]
    said, places = operation.result, {place_of(part) for part in parts}
    if said.startswith("a "):
        said = "object"
        if operation.result.rpartition(".")[2] not in {each.__name__ for each in type(result).mro()}:
            yield f"returns a {type(result).__name__}"
    elif said.startswith("arg "):
        said = place_held(given.get(said[4:], ()))
    elif said == "device":
        said = place_named(given)
    elif said in {"input", "view"}:
        said = place_held(args)
    if said not in {"unknown", *places} or len(places) > 1:
        yield f"returns {', '.join(sorted(places))}, and the stub says {said}"
    yield from items_differ(stub, given, args, result)
    for part in parts:
        value = value_of(part)
        if operation.dtype and "," not in operation.dtype and value.dtype not in {None, operation.dtype}:
            yield f"returns {value.dtype}"
        if isinstance(operation.ndim, int) and value.ndim not in {None, operation.ndim}:
            yield f"returns {value.ndim} dimensions"


def items_differ(
    stub: Stub, given: Mapping[str, tuple[Any, ...]], args: list[Any], result: Any
) -> Iterator[str]:
    """Return how what a result holds differs from what its entry says of it."""
    held = {"gpu" if tensor.is_cuda else "cpu" for tensor in tensors_in(result)}
    said = stub.items
    if said == "device":
        said = place_named(given)
    elif said == "input":
        said = place_held(args)
    if said in {"gpu", "cpu"} and held - {said}:
        yield f"holds tensors on {', '.join(sorted(held))}, and the stub says {said}"
    if said in {"number", "string", "ndarray", "none"} and held:
        yield f"holds tensors on {', '.join(sorted(held))}, and the stub says {said}"


def place_named(given: Mapping[str, tuple[Any, ...]]) -> str:
    """Return where the device is that a call names."""
    return "gpu" if any(value_of(each).device is Device.CUDA for each in given.get("device", ())) else "cpu"


def place_of(value: Any) -> str:
    """Return a word of the results of stubs for a value."""
    kind = value_of(value)
    if kind.kind is Kind.TENSOR:
        return "gpu" if kind.device is Device.CUDA else "cpu"
    words = {
        Kind.NDARRAY: "ndarray", Kind.NUMBER: "number", Kind.LIST: "list", Kind.TUPLE: "list", Kind.NONE: "none", Kind.STRING: "string",
    }  # fmt: skip
    return words.get(kind.kind, "object")


def place_held(values: Any) -> str:
    """Return where the tensors live that values hold, the GPU if any does; else what the first of them is."""
    tensors = [tensor for value in values for tensor in tensors_in(value)]
    if tensors:
        return "gpu" if any(tensor.is_cuda for tensor in tensors) else "cpu"
    return next((place_of(value) for value in values), "unknown")


def tensors_in(value: Any, depth: int = 3) -> list[Any]:
    """Return the tensors that a value is or holds: in containers, in attributes, and among the first that it yields."""
    if isinstance(value, torch.Tensor):
        return [value]
    if (
        depth == 0
        or value is None
        or isinstance(value, (str, bytes, int, float, complex, type))
        or inspect.isroutine(value)
    ):
        return []
    inside = list(getattr(value, "__dict__", {}).values())
    if isinstance(value, Mapping):
        inside += value.values()
    elif isinstance(value, (list, tuple)) or (hasattr(value, "__iter__") and hasattr(value, "__len__")):
        inside += [item for item, _ in zip(value, range(_MOST_LOOKED_AT), strict=False)]
    return [tensor for each in inside for tensor in tensors_in(each, depth - 1)]


def value_of(given: Any) -> Value:
    """Return what the static analysis would know of a value, were it to know all of it."""
    if isinstance(given, torch.Tensor):
        device = Device.CUDA if given.is_cuda else Device.CPU
        pinned = None if given.is_cuda else given.is_pinned()
        return Value(
            Kind.TENSOR,
            device,
            pinned=pinned,
            dtype=_dtype(given.dtype),
            ndim=given.ndim,
            count=given.numel(),
        )
    if isinstance(given, np.ndarray):
        return Value(Kind.NDARRAY, pinned=False, dtype=_dtype(given.dtype), ndim=given.ndim)
    if isinstance(given, (bool, int, float, complex, np.generic)):
        return Value(Kind.NUMBER, dtype=type(given).__name__, payload=given)
    if isinstance(given, torch.device):
        return Value(Kind.DEVICE, Device.CUDA if given.type == "cuda" else Device.CPU)
    if given is None or isinstance(given, str):
        device = Device.CUDA if str(given).startswith("cuda") else Device.UNKNOWN
        return Value(Kind.NONE) if given is None else Value(Kind.STRING, device, payload=given)
    if isinstance(given, dict):
        return Value(Kind.DICT, items=tuple(map(value_of, given.values())))
    if isinstance(given, (list, tuple)):
        kind = Kind.LIST if isinstance(given, list) else Kind.TUPLE
        return Value(kind, items=tuple(map(value_of, given[:_MOST_LOOKED_AT])))
    places = {Device.CUDA if tensor.is_cuda else Device.CPU for tensor in tensors_in(given)}
    device = Device.CUDA if Device.CUDA in places else Device.CPU if places else Device.UNKNOWN
    return Value(Kind.INSTANCE, device)


def _dtype(dtype: Any) -> str:
    name = str(dtype).rpartition(".")[2]
    return name if name in {"bool", "uint8"} else "int" if "int" in name else "float"


if __name__ == "__main__":
    main()

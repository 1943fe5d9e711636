"""Every operation that torch tests by samples, on the plain CPU, on the simulated CPU and on the simulated GPU.

    python -m benchmarks.opinfo [OPERATION ...] [--samples N] [--share N] [--results FILE]    run; what FILE has is not run again
    python -m benchmarks.opinfo --table --results FILE                            the table of docs/simulate.md

For each sample it compares values, dtypes, strides, devices, gradients and errors, all exactly: the same kernels run.
A difference is declared in ``opinfo_known.toml`` with its reason, or the command ends with status 1. torch's samples
are of ``torch.testing._internal.common_methods_invocations``; of each operation the first N (3) in each of two dtypes, of one
operation in ``--share``.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from syncscan.simulate.context import simulated_cuda

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

KNOWN = Path(__file__).with_name("opinfo_known.toml")
DTYPES = (torch.float32, torch.complex64, torch.int64, torch.bool, torch.bfloat16)
WAYS = ("simulated CPU", "simulated GPU")
KINDS = ("error", "values", "dtype", "strides", "device", "gradients")
Outcome = dict[str, Any]


def main(arguments: list[str] | None = None) -> int:
    """Run or print; the exit status is 1 where a difference is not declared."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("operations", nargs="*")
    parser.add_argument("--samples", type=int, default=3)
    parser.add_argument("--share", type=int, default=1)
    parser.add_argument("--results", type=Path, default=Path("opinfo.jsonl"))
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args(arguments)
    if not options.table:
        run(options.operations, options.samples, options.share, options.results)
    rows = _read(options.results)
    print(table(rows))
    unexplained = list(unexplained_in(rows))
    for line in unexplained:
        print("not declared:", line)
    return int(bool(unexplained))


def run(names: list[str], samples: int, share: int, results: Path) -> None:
    """Append one line for each operation and dtype that the file lacks."""
    from torch.testing._internal.common_methods_invocations import op_db  # noqa: PLC0415 (takes seconds)

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    done = {(row["operation"], row["dtype"]) for row in _read(results)}
    with results.open("a", encoding="utf-8") as file:
        for info in op_db[::share]:
            name = f"{info.name}.{info.variant_test_name}".rstrip(".")
            if names and name not in names:
                continue
            for dtype in _dtypes(info):
                if (name, str(dtype)) not in done:
                    row = {"operation": name, "dtype": str(dtype), **compare(info, dtype, samples)}
                    file.write(json.dumps(row) + "\n")
                    file.flush()


def _read(results: Path) -> list[dict[str, Any]]:
    if not results.is_file():
        return []
    return [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]


def _dtypes(info: Any) -> list[torch.dtype]:
    supported = info.supported_dtypes("cpu")
    return [dtype for dtype in DTYPES if dtype in supported][:2]


def compare(info: Any, dtype: torch.dtype, samples: int) -> dict[str, Any]:
    """The number of samples, and of the differences by way and kind."""
    torch.manual_seed(0)
    with_grad = info.supports_autograd and (dtype.is_floating_point or dtype.is_complex)
    try:
        made = list(itertools.islice(info.sample_inputs("cpu", dtype, requires_grad=with_grad), samples))
    except Exception as error:  # it needs a package that is not here
        return {"samples": 0, "skipped": repr(error)[:200], "differences": {}}
    plain = [_outcome(info, _copied(sample, None), with_grad) for sample in made]
    found: Counter[str] = Counter()
    examples: dict[str, str] = {}
    with simulated_cuda():
        for way, device in zip(WAYS, (None, "cuda"), strict=True):
            for sample, expected in zip(made, plain, strict=True):
                operands = _copied(sample, device)
                wanted = device if _is_placed(operands) else None
                outcome = _outcome(info, operands, with_grad)
                for kind, example in differences(expected, outcome, wanted):
                    found[f"{way}: {kind}"] += 1
                    examples.setdefault(f"{way}: {kind}", example[:300])
    return {"samples": len(made), "differences": dict(found), "examples": examples}


def _copied(sample: Any, device: str | None) -> tuple[Any, list[Any], dict[str, Any]]:
    """The operands of a sample, in tensors of their own, on a device if one is given."""

    def copied(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            copy = value.detach().clone()
            return (copy if device is None else copy.to(device)).requires_grad_(value.requires_grad)
        if isinstance(value, (list, tuple)) and type(value) in {list, tuple}:
            return type(value)(map(copied, value))
        if isinstance(value, dict):
            return {name: copied(item) for name, item in value.items()}
        names_host = isinstance(value, (str, torch.device)) and str(value) == "cpu"
        return device if device is not None and names_host else value

    return copied(sample.input), copied(list(sample.args)), copied(sample.kwargs)


def _is_placed(operands: Any) -> bool:
    """Return whether an operand is a tensor, or names a device."""
    if isinstance(operands, (list, tuple)):
        return any(map(_is_placed, operands))
    if isinstance(operands, dict):
        return any(map(_is_placed, operands.values()))
    return operands == "cuda" if isinstance(operands, str) else isinstance(operands, torch.Tensor)


def _outcome(info: Any, operands: Any, with_grad: bool) -> Outcome:
    torch.manual_seed(0)
    try:
        result = info(operands[0], *operands[1], **operands[2])
        outcome: Outcome = {"results": [_seen(tensor) for tensor in _tensors(result)]}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"}
    if with_grad:
        try:
            outcome["gradients"] = [_seen(gradient) for gradient in _gradients(result, operands)]
        except Exception as error:
            outcome["gradients"] = f"{type(error).__name__}: {str(error).splitlines()[0]}"
    return outcome


def _gradients(result: Any, operands: Any) -> Iterator[torch.Tensor]:
    """The gradients of the operands by the sum of all results."""
    leaves = [t for t in _tensors(operands) if t.requires_grad]
    outputs = [t for t in _tensors(result) if t.requires_grad]
    if leaves and outputs:
        sums = [torch.view_as_real(t).sum() if t.is_complex() else t.sum() for t in outputs]
        found = torch.autograd.grad(sums, leaves, allow_unused=True)
        yield from (gradient for gradient in found if gradient is not None)


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [t for item in value for t in _tensors(item)] if isinstance(value, (list, tuple)) else []


def _seen(tensor: torch.Tensor) -> dict[str, Any]:
    strided = tensor.layout is torch.strided
    return {
        "values": tensor.detach().cpu(),
        "dtype": str(tensor.dtype),
        "strides": [list(tensor.shape), list(tensor.stride()) if strided else str(tensor.layout)],
        "device": str(tensor.device),
    }


def differences(expected: Outcome, found: Outcome, device: str | None) -> Iterator[tuple[str, str]]:
    """The kinds of difference between two outcomes, with an example of each."""
    if "error" in expected or "error" in found:
        if expected.get("error") != found.get("error"):
            yield "error", f"{expected.get('error')} / {found.get('error')}"
        return
    yield from _of_results(expected["results"], found["results"], device)
    before, after = expected.get("gradients"), found.get("gradients")
    if isinstance(before, list) and isinstance(after, list):
        of_gradients = dict(_of_results(before, after, device))
        if of_gradients:
            yield "gradients", "; ".join(f"{kind}: {example}" for kind, example in of_gradients.items())
    elif before != after:
        yield "gradients", f"{_short(before)} / {_short(after)}"


def _short(value: Any) -> str:
    return value if isinstance(value, str) else "computed"


def _of_results(before: list[Any], after: list[Any], device: str | None) -> Iterator[tuple[str, str]]:
    if len(before) != len(after):
        yield "values", f"{len(before)} results / {len(after)}"
        return
    for one, other in zip(before, after, strict=True):
        for kind in ("dtype", "strides"):
            if one[kind] != other[kind]:
                yield kind, f"{one[kind]} / {other[kind]}"
        wanted = one["device"] if device is None else "cuda:0"
        if other["device"] != wanted:
            yield "device", f"{wanted} / {other['device']}"
        if one["dtype"] == other["dtype"] and not _same(one["values"], other["values"]):
            yield "values", str(one["strides"])


def _same(one: torch.Tensor, other: torch.Tensor) -> bool:
    if one.layout is not torch.strided:
        one, other = one.to_dense(), other.to_dense()
    return one.shape == other.shape and torch.allclose(one, other, rtol=0, atol=0, equal_nan=True)


def _known() -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = tomllib.loads(KNOWN.read_text(encoding="utf-8"))["difference"]
    return entries


def _reason(operation: str, difference: str) -> str | None:
    """The declared reason of a difference, if it has one."""
    way, _, kind = difference.partition(": ")
    for entry in _known():
        if operation in entry["operations"] and way in entry["ways"] and kind in entry["kinds"]:
            return str(entry["reason"])
    return None


def unexplained_in(rows: list[dict[str, Any]]) -> Iterator[str]:
    """The differences that are not declared."""
    for row in rows:
        for difference in row["differences"]:
            if _reason(row["operation"], difference) is None:
                yield f"{row['operation']} {row['dtype']} {difference}: {row['examples'][difference]}"


def table(rows: list[dict[str, Any]]) -> str:
    """Return the table of equal samples and of differences with their reasons."""
    operations = {row["operation"] for row in rows if row["samples"]}
    samples = sum(row["samples"] for row in rows)
    lines = [
        f"{len(operations)} operations, {samples} samples.",
        "",
        "| differs in | " + " | ".join(WAYS) + " |",
    ]
    lines.append("|---|" + "---|" * len(WAYS))
    for kind in KINDS:
        counts = [sum(row["differences"].get(f"{way}: {kind}", 0) for row in rows) for way in WAYS]
        lines.append(f"| {kind} | " + " | ".join(map(str, counts)) + " |")
    reasons: dict[str, set[str]] = {}
    for row in rows:
        for difference in row["differences"]:
            reason = _reason(row["operation"], difference) or "not declared"
            reasons.setdefault(reason, set()).add(f"`{row['operation']}`")
    lines += ["", "| operations | why they differ |", "|---|---|"]
    lines += [f"| {', '.join(sorted(found))} | {reason} |" for reason, found in sorted(reasons.items())]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())

"""Statements in functions that `torch.compile` compiles: which of them synchronize, eagerly and compiled.

    python -m benchmarks.compiled            what an H200 did, a line for each statement
    python -m benchmarks.compiled --gpu      on a GPU; prints what `benchmarks/compiled_h200.json` holds

A function of one statement runs three times, and once more with `torch.cuda.set_sync_debug_mode("warn")`, whose warnings count.
Nested data and host tensors are made inside of the function, but for `host.to("cuda")`.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

ON_GPU = Path(__file__).with_name("compiled_h200.json")
STATEMENTS = (
    "x * torch.tensor(2.0, device=x.device)",
    "x * torch.as_tensor(2.0, device=x.device)",
    "x + torch.tensor([1.0] * 8, device=x.device)",
    "x + x.new_tensor([1.0] * 8)",
    "x * torch.tensor(x.shape[0], device=x.device)",
    "x * torch.tensor(2.0).to(x.device)",
    "x[:8] * torch.ones(8, 8).tril().to(x.device)",
    "x[[0, 2]]",
    "x.clone().__setitem__(ids, 1.0)",
    "x.clone().__setitem__((0, 1), 2.0)",
    "x.clone().__setitem__(0, torch.tensor([1.0] * 8))",
    "torch.linalg.cholesky(x.T @ x + torch.eye(8, device=x.device))",
    "torch.linalg.inv(x.T @ x + torch.eye(8, device=x.device))",
    "x + host.to(x.device)",
    "x[mask].sum()",
    "mask.nonzero().sum()",
    "x * x.sum().item()",
    "x * float(number)",
    "x * 2 if x.sum() > 0 else x",
    "x[index]",
    "x.repeat_interleave(torch.ones(64, dtype=torch.long, device=x.device), dim=0)",
    "torch.unique(ids).sum()",
    "torch.bincount(ids)",
    "torch.nn.functional.one_hot(ids)",
    "x.cpu()",
    "x * sum(ids.tolist())",
)


def main() -> None:
    """Print how often each statement synchronizes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--gpu", action="store_true", help="run the statements on a GPU")
    options = parser.parse_args()
    if options.gpu:
        print(json.dumps(measured(), indent=1))
        return
    for statement, counts in json.loads(ON_GPU.read_text()).items():
        print(f"{counts['eager']} eagerly, {counts['compiled']} compiled: {statement}")


def measured() -> dict[str, dict[str, int]]:
    """Return the synchronizations of each statement on a GPU."""
    x = torch.randn(64, 8, device="cuda")
    names: dict[str, Any] = {"torch": torch, "x": x, "mask": x[:, 0] > 0, "host": torch.randn(64, 8)}
    names |= {"ids": torch.tensor([0, 2, 3], device="cuda"), "index": torch.tensor(2, device="cuda")}
    names["number"] = torch.tensor(3.0, device="cuda")
    found = {}
    for statement in STATEMENTS:
        torch._dynamo.reset()
        run: Callable[[], object] = eval(f"lambda: {statement}", names)  # noqa: S307 (statements of this file)
        found[statement] = {"eager": _count(run), "compiled": _count(torch.compile(run))}
    return found


def _count(run: Callable[[], object]) -> int:
    """Return the synchronizations of a function once all is compiled."""
    for _ in range(3):
        run()
    torch.cuda.synchronize()
    torch.cuda.set_sync_debug_mode("warn")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run()
    torch.cuda.set_sync_debug_mode("default")
    return sum("synchroniz" in str(each.message) for each in caught)


if __name__ == "__main__":
    main()

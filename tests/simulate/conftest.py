"""Every test here leaves torch as it found it."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

torch = pytest.importorskip("torch")


# By torch itself, when its compiler is imported.
_WRAPPED = {"__warningregistry__", "manual_seed", "trace", "trace_module", "_get_trace_graph"}


def owners() -> list[object]:
    """Whatever the simulator replaces attributes of."""
    names = (
        "cuda",
        "cuda.memory",
        "cuda.random",
        "cuda.streams",
        "cuda.graphs",
        "cuda.nvtx",
        "cuda.sparse",
        "accelerator",
    )
    modules = [found for name in names if (found := _find(name)) is not None]
    return [
        torch, torch.Tensor, torch.UntypedStorage, torch.version, torch._C, torch._C._nn,
        torch.backends.cuda, torch.backends.cudnn, torch.autograd, torch.autograd.graph,
        torch.autograd.Function, torch.distributed, torch.export, torch.jit, torch.nested, torch.utils.dlpack,
        torch.ScriptFunction, torch._C.ScriptMethod, torch._C._autograd, torch._C._dynamo.eval_frame, threading.Thread, *modules,
    ]  # fmt: skip


def _find(name: str) -> object | None:
    found = torch
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def snapshot() -> dict[tuple[int, str], int]:
    """The identity of every attribute of every owner."""
    return {
        (number, name): id(value)
        for number, owner in enumerate(owners())
        for name, value in dict(vars(owner)).items()
        if name not in _WRAPPED
    }


@pytest.fixture(autouse=True)
def _torch_is_restored() -> Iterator[None]:
    before = snapshot()
    yield
    changed = {name for name, value in snapshot().items() if before.get(name, value) != value}
    assert not changed
    assert not torch.overrides._get_current_function_mode_stack()
    assert torch._C._len_torch_dispatch_stack() == 0

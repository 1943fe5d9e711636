"""``torch.distributed`` and ``DataParallel`` on the simulated GPU, with gloo in place of NCCL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import torch

if TYPE_CHECKING:
    from .gpu import Gpu
    from .patches import Patches

_without_dispatch = torch._C._DisableTorchDispatch


def install(gpu: Gpu, patches: Patches) -> None:
    """Replace NCCL by gloo in new process groups, and judge collectives by the operation table."""
    for function in (_scatter, _gather, _broadcast, _broadcast_coalesced):
        patches.replace(torch._C, function.__name__, function)
    distributed = torch.distributed
    if not distributed.is_available():
        return
    on_hosts: set[str] = set()
    for name in ("init_process_group", "new_group"):
        patches.replace_everywhere(distributed, name, _on_gloo(getattr(distributed, name), on_hosts))
    patches.replace_everywhere(distributed, "is_nccl_available", lambda: True)
    _cover_work(patches)
    _cover_reducer(gpu, patches)
    for name, operation in gpu.table.operations.items():
        namespace, _, base = name.rpartition(".")
        if namespace == "torch.distributed" and operation.cases and hasattr(distributed, base):
            judged = _judged(gpu, name, getattr(distributed, base), on_hosts)
            patches.replace_everywhere(distributed, base, judged)


def _on_gloo(make: Any, on_hosts: set[str]) -> Any:
    """Wrap a function that creates process groups so that NCCL groups use gloo.

    ``on_hosts`` collects the names of the groups that the program itself puts on gloo.
    """
    place = 0 if make.__name__ == "init_process_group" else 2  # position of the backend argument

    def made(*args: Any, **kwargs: Any) -> Any:
        asked = kwargs.get("backend") or (args[place] if len(args) > place else None)
        default = torch.distributed.distributed_c10d._get_default_group
        inherits = place and asked is None and default().group_name in on_hosts
        arguments = [_gloo(value) if position == place else value for position, value in enumerate(args)]
        if "backend" in kwargs:
            kwargs["backend"] = _gloo(kwargs["backend"])
        elif not arguments and make.__name__ == "init_process_group":
            kwargs["backend"] = "gloo"
        kwargs.pop("device_id", None)  # gloo has no device
        group = make(*arguments, **kwargs)
        name = getattr(group if place else default(), "group_name", "")  # this process may not be in it
        on_hosts.discard(name)
        if inherits or (isinstance(asked, str) and "nccl" not in asked.lower()):
            on_hosts.add(name)
        return group

    return made


def _gloo(backend: Any) -> Any:
    """Return a backend string such as ``"nccl"`` or ``"cuda:nccl,cpu:gloo"`` in terms of gloo; other values unchanged."""
    return "gloo" if isinstance(backend, str) and "nccl" in backend.lower() else backend


def _judged(gpu: Gpu, name: str, function: Any, on_hosts: set[str]) -> Any:
    def judged(*args: Any, **kwargs: Any) -> Any:
        operation = gpu.table.operations[name]
        group = operation.bind(args, kwargs).get("group") or torch.distributed.group.WORLD
        if getattr(group, "group_name", "") in on_hosts:
            return function(*args, **kwargs)
        with gpu.judging(name, operation.bind(args, kwargs)):
            return function(*args, **kwargs)

    return judged


def _cover_work(patches: Patches) -> None:
    """Hide the copies in ``Work.wait`` of gloo, which moves results out of its own memory; NCCL does not."""
    work = torch._C._distributed_c10d.Work
    wait: Any = work.wait

    def covered(self: Any, *args: Any, **kwargs: Any) -> Any:
        with _without_dispatch():
            return wait(self, *args, **kwargs)

    patches.replace(work, "wait", covered)


def _cover_reducer(gpu: Gpu, patches: Patches) -> None:
    """Mark the buckets of ``DistributedDataParallel``, which C++ code creates, with the device of its parameters."""
    reducer = torch._C._distributed_c10d.Reducer
    make, make_again = reducer.__init__, reducer._rebuild_buckets
    parameters: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()

    def made(self: Any, params: Any, *args: Any, **kwargs: Any) -> None:
        parameters[self] = params
        with gpu.inside(make, (params,), {}):
            make(self, params, *args, **kwargs)

    def made_again(self: Any) -> Any:
        with gpu.inside(make_again, (parameters.get(self),), {}):
            return make_again(self)

    patches.replace(reducer, "__init__", made)
    patches.replace(reducer, "_rebuild_buckets", made_again)


def _scatter(
    tensor: Any, devices: Any, chunk_sizes: Any = None, dim: int = 0, streams: Any = None
) -> tuple[Any, ...]:
    parts = tensor.chunk(len(devices), dim) if chunk_sizes is None else tensor.split(chunk_sizes, dim)
    return tuple(part.to(torch.device("cuda", index)) for part, index in zip(parts, devices))


def _gather(tensors: Any, dim: int, destination: int | None = None) -> Any:
    device = torch.device("cpu") if destination == -1 else torch.device("cuda", destination or 0)
    return torch.cat([tensor.to(device) for tensor in tensors], dim)


def _broadcast(tensor: Any, devices: Any) -> list[Any]:
    return [tensor.to(torch.device("cuda", index)) for index in devices]


def _broadcast_coalesced(tensors: Any, devices: Any, buffer_size: int) -> list[list[Any]]:
    return [[tensor.to(torch.device("cuda", index)) for tensor in tensors] for index in devices]

"""Transfers between the host and the simulated GPU: ``to``, ``cuda``, ``cpu``, ``numpy``, pinning.

The replacements are methods of `torch.Tensor` while a simulation runs. They therefore also apply inside
Python code of torch that the modes do not see.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor

from .gradients import move
from .kinds import is_cuda_device
from .marks import (
    PINNED,
    cuda_index,
    owner_place,
    place,
    set_owner_place,
    set_place,
    without_functions,
)
from .overridable import Attribute, Method, WrongArgumentsError, call_fitting
from .pinning import pinned_copy

if TYPE_CHECKING:
    from .gpu import Gpu
    from .patches import Patches

_base: Any = torch._C.TensorBase
_storage_base: Any = torch._C.StorageBase
_plain_write_file: Any = _storage_base._write_file
_group = torch._C._group_tensors_by_device_and_dtype
_WRAPPER = (
    "size", "strides", "storage_offset", "memory_format", "dtype", "layout", "device", "pin_memory", "requires_grad",
    "dispatch_sizes_strides_policy", "dispatch_device", "dispatch_layout", "_extra_dispatch_keys", "storage_size",
)  # fmt: skip
_TO = ("device", "dtype", "non_blocking", "copy", "memory_format")
_OPTIONS = frozenset(_TO)


def _is_here(tensor: Tensor, device: Any) -> bool:
    """Return whether a host tensor stays on the host, so that torch's own method applies."""
    return not is_cuda_device(device) and place(tensor) is None


def _parse_to(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of ``Tensor.to`` in any of its forms, by name; another tensor provides device and dtype."""
    first = args[0] if args else None
    if isinstance(first, Tensor):
        return {"device": first.device, "dtype": first.dtype, **dict(zip(_TO[2:], args[1:])), **kwargs}
    if isinstance(first, torch.dtype):
        return {**dict(zip(_TO[1:], args)), **kwargs}
    return {**dict(zip(_TO, args)), **kwargs}


def _original(method: Any, *args: Any, **kwargs: Any) -> Any:
    """Call torch's own version of a replaced method, unseen by modes and overrides."""
    with without_functions():
        return method(*args, **kwargs)


class Transfers:
    """The tensor and storage methods that report a device or transfer memory."""

    METHODS = (
        "to", "cuda", "cpu", "numpy", "pin_memory", "is_pinned", "type", "type_as", "new", "record_stream",
        "get_device",
    )  # fmt: skip

    def __init__(self, gpu: Gpu) -> None:
        self.gpu = gpu

    def install(self, patches: Patches) -> None:
        """Replace these methods on `torch.Tensor` and `torch.UntypedStorage`."""
        for name in self.METHODS:
            patches.replace(Tensor, name, Method(getattr(Tensor, name), getattr(self, f"_{name}")))
        for name in ("device", "is_cuda", "is_cpu"):
            patches.replace(Tensor, name, Attribute(getattr(Tensor, name), getattr(self, f"_{name}")))
        patches.replace(Tensor, "__cuda_array_interface__", property(self._cuda_array_interface))
        for name in ("cpu", "cuda", "to", "clone", "is_pinned", "pin_memory", "get_device", "_write_file"):
            patches.replace(torch.UntypedStorage, name, self._storage_method(name))
        for name in ("device", "is_cuda"):
            patches.replace(torch.UntypedStorage, name, property(getattr(self, f"_storage_{name}")))
        patches.replace(Tensor, "_make_wrapper_subclass", staticmethod(self._make_wrapper))
        patches.replace(torch, "get_device", Method(torch.get_device, self._get_device))
        patches.replace(torch._C._nn, "_parse_to", self._parse_module_to)
        patches.replace(torch._C, "_group_tensors_by_device_and_dtype", self._grouped)

    def _storage_method(self, name: str) -> Any:
        """Return a plain function for a method of storages, on which modes and classes have no say."""
        implementation, plain = getattr(self, f"_storage_{name}"), getattr(torch.UntypedStorage, name)

        def method(*args: Any, **kwargs: Any) -> Any:
            return call_fitting(implementation, plain, args, kwargs)

        method.__name__ = method.__qualname__ = name
        return method

    # Devices of tensors

    def _device(self, tensor: Tensor) -> torch.device:
        index = cuda_index(tensor)
        if index is not None:
            return self.gpu.devices[index]
        device: torch.device = _original(_base.device.__get__, tensor)
        return device

    def _is_cuda(self, tensor: Tensor) -> bool:
        return cuda_index(tensor) is not None or bool(_original(_base.is_cuda.__get__, tensor))

    def _is_cpu(self, tensor: Tensor) -> bool:
        return cuda_index(tensor) is None and bool(_original(_base.is_cpu.__get__, tensor))

    def _get_device(self, tensor: Tensor) -> int:
        if not isinstance(tensor, Tensor):
            raise WrongArgumentsError
        index = cuda_index(tensor)
        return int(_original(_base.get_device, tensor)) if index is None else index

    def _make_wrapper(self, kind: type, *args: Any, **kwargs: Any) -> Any:
        """Make a tensor subclass without its own memory, on the CPU for torch, and mark it."""
        arguments = {**dict(zip(_WRAPPER, args)), **kwargs}
        device = arguments.get("device")
        if not is_cuda_device(device) or arguments.get("dispatch_device"):
            return _base._make_wrapper_subclass(kind, *args, **kwargs)
        wrapper = _base._make_wrapper_subclass(kind, **{**arguments, "device": "cpu"})
        set_place(wrapper, self.gpu.cuda_index(device))
        return wrapper

    @staticmethod
    def _cuda_array_interface(tensor: Tensor) -> Any:
        raise AttributeError(f"{tensor.type()} has no __cuda_array_interface__: its CUDA device is simulated")

    # Transfers of tensors

    @staticmethod
    def _parse_module_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
        """Parse the arguments of ``nn.Module.to``; torch's parser would start CUDA."""
        parsed = _parse_to(args, kwargs)
        device = parsed.get("device")
        return (
            None if device is None else torch.device(device),
            parsed.get("dtype"),
            bool(parsed.get("non_blocking")),
            parsed.get("memory_format"),
        )

    def _to(self, tensor: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        parsed = _parse_to(args, kwargs)
        device = parsed.get("device")
        if device is None or _is_here(tensor, device) or not self._is_simulated(device):
            return self._stay(tensor, *args, **kwargs)
        if not parsed.keys() <= _OPTIONS:
            raise WrongArgumentsError
        return self._transfer("torch.Tensor.to", tensor, device, parsed)

    @staticmethod
    def _is_simulated(device: Any) -> bool:
        return is_cuda_device(device) or torch.device(device).type == "cpu"

    def _stay(self, tensor: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        result: Tensor = _original(_base.to, tensor, *args, **kwargs)
        return result

    def _index(self, device: Any) -> int | None:
        return self.gpu.cuda_index(device) if is_cuda_device(device) else None

    def _transfer(
        self, name: str, tensor: Tensor, device: Any, parsed: dict[str, Any], **operands: Tensor
    ) -> Tensor:
        where = self._index(device)
        source = cuda_index(tensor)
        options = {key: parsed[key] for key in ("dtype", "memory_format") if parsed.get(key) is not None}
        if where == source:
            if not options and not parsed.get("copy"):
                return tensor
            return self._stay(tensor, copy=bool(parsed.get("copy")), **options)
        self.gpu.judge_call(name, {"input": tensor, **parsed, **operands})
        if where is None and parsed.get("non_blocking"):
            where = PINNED  # torch allocates pinned memory for an asynchronous D2H copy
        return move(tensor, where, options)

    def _cuda(
        self, tensor: Tensor, device: Any = None, non_blocking: bool = False, memory_format: Any = None
    ) -> Tensor:
        device = "cuda" if device is None else device
        if not is_cuda_device(device):
            raise WrongArgumentsError
        parsed = {"device": device, "non_blocking": non_blocking, "memory_format": memory_format}
        return self._transfer("torch.Tensor.cuda", tensor, device, parsed)

    def _cpu(self, tensor: Tensor, memory_format: Any = None) -> Tensor:
        if _is_here(tensor, None):
            options = {} if memory_format is None else {"memory_format": memory_format}
            return cast("Tensor", _original(_base.cpu, tensor, **options))
        parsed = {"device": "cpu", "memory_format": memory_format}
        return self._transfer("torch.Tensor.cpu", tensor, "cpu", parsed)

    def _numpy(self, tensor: Tensor, *, force: bool = False) -> Any:
        self.gpu.judge_call("torch.Tensor.numpy", {"input": tensor, "force": force})
        index = cuda_index(tensor)
        if index is None:
            return _original(_base.numpy, tensor, force=force)
        if not force:
            raise TypeError(
                f"can't convert cuda:{index} device type tensor to numpy. "
                "Use Tensor.cpu() to copy the tensor to host memory first."
            )
        return _original(_base.numpy, move(tensor.detach(), None, {}), force=True)

    def _type(self, tensor: Tensor, dtype: Any = None, non_blocking: bool = False, **kwargs: Any) -> Any:
        if dtype is None:
            name = str(_original(_base.type, tensor)).replace("torch.cuda.", "torch.")
            return name.replace("torch.", "torch.cuda.") if cuda_index(tensor) is not None else name
        if isinstance(dtype, torch.dtype):
            return _original(_base.type, tensor, dtype, non_blocking, **kwargs)
        if not isinstance(dtype, (str, type)) and not hasattr(dtype, "__module__"):
            raise WrongArgumentsError
        if dtype is Tensor:
            # syncscan: ignore[SYN105] a simulated tensor is in host memory
            return tensor.to("cpu", torch.get_default_dtype(), non_blocking=non_blocking)
        name = dtype if isinstance(dtype, str) else f"{dtype.__module__}.{dtype.__name__}"
        kind = getattr(torch, name.rpartition(".")[2], None)
        if not isinstance(kind, type(torch.FloatTensor)):
            raise WrongArgumentsError
        device = "cuda" if "cuda" in name else "cpu"
        if tensor.device.type == device:
            return tensor.to(kind.dtype, non_blocking=non_blocking)
        return tensor.to(device, kind.dtype, non_blocking=non_blocking)

    def _type_as(self, tensor: Tensor, other: Tensor) -> Tensor:
        if not isinstance(other, Tensor):
            raise WrongArgumentsError
        if _is_here(tensor, other.device):
            return cast("Tensor", _original(_base.type_as, tensor, other))
        parsed = {"device": other.device, "dtype": other.dtype}
        return self._transfer("torch.Tensor.type_as", tensor, other.device, parsed, other=other)

    def _new(self, tensor: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """Make a tensor as the legacy ``Tensor.new`` does; a tensor or storage argument is aliased."""
        device = kwargs.pop("device", None)
        made: Tensor = _original(_base.new, tensor, *args, **kwargs)
        if not args or not isinstance(args[0], (Tensor, torch.UntypedStorage, torch.TypedStorage)):
            where = cuda_index(tensor) if device is None else self._index(device)
            set_place(made, where)
        return made

    @staticmethod
    def _record_stream(tensor: Tensor, s: Any) -> None:
        """Do nothing: CPU memory is never reused too early."""

    @staticmethod
    def _grouped(lists: Any, with_indices: bool) -> Any:
        """Return the groups of tensors for optimizers and gradient clipping, by the device that the tensors claim."""
        groups: dict[Any, tuple[list[Any], list[int]]] = {}
        for key, (tensors, indices) in _group(lists, with_indices).items():
            for device, positions in _by_device(key[0], tensors[0]).items():
                parts = [[row[at] for at in positions] if row else row for row in tensors]
                groups[device, key[1]] = parts, [indices[at] for at in positions] if indices else indices
        return groups

    # Pinned memory

    def _pin_memory(self, tensor: Tensor, device: Any = None) -> Tensor:
        if cuda_index(tensor) is not None:
            raise RuntimeError(f"cannot pin '{tensor.type()}' only dense CPU tensors can be pinned")
        self.gpu.judge_call("torch.Tensor.pin_memory", {"input": tensor})
        if place(tensor) == PINNED:
            return tensor
        pinned = pinned_copy(tensor)
        set_place(pinned, PINNED)
        return pinned

    @staticmethod
    def _is_pinned(tensor: Tensor, device: Any = None) -> bool:
        return place(tensor) == PINNED

    # Storages, which torch.save, torch.load and copy.deepcopy transfer themselves

    def _storage_device(self, storage: Any) -> torch.device:
        where = owner_place(storage)
        if where is not None and where >= 0:
            return self.gpu.devices[where]
        device: torch.device = _storage_base.device.__get__(storage)
        return device

    def _storage_is_cuda(self, storage: Any) -> bool:
        return self._storage_device(storage).type == "cuda"

    def _storage_get_device(self, storage: Any) -> int:
        index = self._storage_device(storage).index
        return -1 if index is None else index

    def _storage_to(self, storage: Any, *, device: Any, non_blocking: bool = False) -> Any:
        try:
            where = self._index(torch.device(device))
        except (RuntimeError, TypeError):
            raise WrongArgumentsError from None
        if where == (source := owner_place(storage)) or (where is None and source == PINNED):
            return storage
        bound = {"input": _bytes_of(storage), "device": device, "non_blocking": non_blocking}
        self.gpu.judge_call("torch.Tensor.to", bound)
        return _copied(storage, where)

    def _storage_cuda(self, storage: Any, device: Any = None, non_blocking: bool = False) -> Any:
        return self._storage_to(
            storage, device="cuda" if device is None else device, non_blocking=non_blocking
        )

    def _storage_cpu(self, storage: Any) -> Any:
        return self._storage_to(storage, device="cpu")

    def _storage__write_file(self, storage: Any, *args: Any) -> Any:
        """Write the bytes of a storage, as pickle does: those on the GPU are copied to the host (H200, torch 2.11)."""
        if self._storage_is_cuda(storage):
            bound = {"input": _bytes_of(storage), "device": "cpu", "non_blocking": False}
            self.gpu.judge_call("torch.Tensor.to", bound)
        return _plain_write_file(storage, *args)

    @staticmethod
    def _storage_clone(storage: Any) -> Any:
        return _copied(storage, owner_place(storage))

    @staticmethod
    def _storage_is_pinned(storage: Any, device: Any = None) -> bool:
        return owner_place(storage) == PINNED

    @staticmethod
    def _storage_pin_memory(storage: Any, device: Any = None) -> Any:
        return _copied(storage, PINNED)


def _by_device(device: torch.device, tensors: Any) -> dict[torch.device, list[int]]:
    """Return the positions of tensors by the device that each claims."""
    positions: dict[torch.device, list[int]] = {}
    for at, tensor in enumerate(tensors):
        positions.setdefault(device if tensor is None else tensor.device, []).append(at)
    return positions


def _copied(storage: Any, where: int | None) -> Any:
    copy = type(storage)(storage.nbytes())
    set_owner_place(copy, owner_place(storage))  # so that the copy itself stays on one device
    copy.copy_(storage, False)
    set_owner_place(copy, where)
    return copy


def _bytes_of(storage: Any) -> Tensor:
    return torch.empty(0, dtype=torch.uint8).set_(storage)

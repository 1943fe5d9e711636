"""Custom operations implemented in Python, whose bodies the simulation runs as on a GPU."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import torch
from torch._library import custom_ops

from .marks import without_functions

if TYPE_CHECKING:
    from collections.abc import Callable

    from .patches import Patches

# The CUDA kernel and its registering file, in torch's description of an operation.
_IN_PYTHON = re.compile(r"^CUDA: registered at (.*\.py|<.*>):\d+ ", re.MULTILINE)
_registered: dict[str, Callable[..., Any]] = {}  # CUDA kernels registered during simulations


def install(patches: Patches) -> None:
    """Record the Python kernels that the program registers for CUDA; torch offers no query for them."""
    impl: Any = torch.library.Library.impl

    def remembering(library: Any, op_name: Any, fn: Any, dispatch_key: str = "", **options: Any) -> None:
        impl(library, op_name, fn, dispatch_key, **options)
        name = op_name if isinstance(op_name, str) else op_name.name()
        if (dispatch_key or library.dispatch_key) == "CUDA" and not options.get("with_keyset"):
            _registered[f"{library.ns}::{name.partition('::')[2] or name}"] = fn

    patches.replace(torch.library.Library, "impl", remembering)


# The device types whose body runs on each side, in order; the other side's body is the last resort.
_ON_GPU, _ON_HOST = ("cuda", None, "default", "cpu"), ("cpu", None, "default", "cuda")


def python_kernel(function: Any, *, on_gpu: bool) -> Callable[..., Any] | None:
    """Return the Python body of an operation for operands on the GPU or on the host, or None.

    The body comes from ``torch.library.custom_op``, or from a ``Library.impl`` for CUDA. The simulation
    cannot find the body of an earlier registration by ``Library.impl``. It then calls the operation through
    the dispatcher, and sees only its aten calls.
    """
    schema = getattr(function, "_schema", None)
    if schema is None or schema.name.startswith(("aten::", "prims::")):
        return None
    bodies = getattr(getattr(custom_ops, "OPDEFS", {}).get(schema.name), "_backend_fns", {})
    made = next((bodies[device] for device in (_ON_GPU if on_gpu else _ON_HOST) if device in bodies), None)
    if made is not None or not on_gpu or not _IN_PYTHON.search(torch._C._dispatch_dump(function.name())):
        return made
    return _registered.get(function.name()) or _unseen(function)


def _unseen(function: Any) -> Callable[..., Any]:
    def kernel(*args: Any, **kwargs: Any) -> Any:
        with without_functions():
            return function._op_dk(torch._C.DispatchKey.CUDA, *args, **kwargs)

    return kernel

"""Kernels that a library compiles at their first use: CUDA C++ through tvm-ffi, and the CuTe DSL.

FlashInfer and SGLang have such kernels, which neither torch nor Triton sees. The simulation neither compiles
nor runs them, so that a machine needs no compiler. A tvm-ffi function without GPU operands runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from .kinds import tensors_in
from .marks import cuda_index
from .taint import Written, taint

if TYPE_CHECKING:
    from .gpu import Gpu
    from .patches import Patches


def install(gpu: Gpu, patches: Patches) -> None:
    """Replace the compilation in each library, now or when the program imports the library."""
    patches.when_imported("tvm_ffi", lambda tvm: _replace_modules(gpu, patches, tvm))
    patches.when_imported("tvm_ffi.cpp", lambda cpp: _replace_builds(gpu, patches, cpp))
    patches.when_imported("cutlass.base_dsl.dsl", lambda dsl: _replace_dsl(gpu, patches, dsl))
    # FlashInfer compiles by itself, and loads the result as a module of tvm-ffi
    patches.when_imported(
        "flashinfer.jit.core",
        lambda core: patches.replace(core.JitSpec, "build", lambda *args, **kwargs: None),
    )


def _replace_modules(gpu: Gpu, patches: Patches, tvm: Any) -> None:
    load = tvm.load_module

    def load_module(path: Any, *args: Any, **kwargs: Any) -> Any:
        """Load a compiled module if the file exists, because it may contain host functions."""
        found = load(path, *args, **kwargs) if Path(path).exists() else None
        return _Module(gpu, Path(path).stem, found)

    patches.replace_everywhere(tvm, "load_module", load_module)


def _replace_builds(gpu: Gpu, patches: Patches, cpp: Any) -> None:
    for name in ("load", "load_inline"):
        if hasattr(cpp, name):
            patches.replace(cpp, name, _load(gpu, getattr(cpp, name)))


def _load(gpu: Gpu, original: Any) -> Any:
    def load(name: str, **options: Any) -> Any:
        """Compile host-only modules; return a stand-in for modules with CUDA sources."""
        if options.get("cuda_files") or options.get("cuda_sources"):
            return _Module(gpu, name, None)
        return original(name, **options)

    return load


def _replace_dsl(gpu: Gpu, patches: Patches, dsl: Any) -> None:
    def run(_: Any, function: Any, *args: Any, compile_only: bool = False, **kwargs: Any) -> Any:
        name = function.__qualname__.removesuffix(".__call__").rpartition(".")[2]
        kernel = _Kernel(gpu, f"the CuTe kernel {name}", None)
        return kernel if compile_only else kernel(*args, **kwargs)

    patches.replace(dsl.BaseDSL, "_func", run)


class _Module:
    """A loaded tvm-ffi module, which has every function that the program asks for."""

    def __init__(self, gpu: Gpu, name: str, module: Any) -> None:
        self._gpu, self._name, self._module = gpu, name, module

    def __getattr__(self, name: str) -> _Kernel:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.get_function(name)

    def __getitem__(self, name: str) -> _Kernel:
        return self.get_function(name)

    def get_function(self, name: str, query_imports: bool = False) -> _Kernel:
        """Return a function; raise AttributeError where the compiled module exists and lacks a function of this name."""
        function = None if self._module is None else self._module.get_function(name, query_imports)
        return _Kernel(self._gpu, f"the compiled kernel {self._name}.{name}", function)


class _Kernel:
    """A callable that launches one kernel."""

    def __init__(self, gpu: Gpu, name: str, on_host: Any) -> None:
        self._gpu, self._name, self._on_host = gpu, name, on_host

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        operands = [tensor for tensor in tensors_in((args, kwargs)) if cuda_index(tensor) is not None]
        if self._on_host is not None and not operands:
            return self._on_host(*args, **kwargs)
        self._gpu.launched(self._name)
        taint([tensor for tensor in operands if _may_be_written(tensor)], Written({self._name}))
        return ()  # unknown; callers of a "plan" function require a value other than None

    def to(self, device: Any = None) -> _Kernel:
        """Return the kernel itself: loading a CuTe kernel onto a device needs no work."""
        return self


def _may_be_written(tensor: torch.Tensor) -> bool:
    """Return whether a kernel may write an operand: one of floating point, or one of zeros.

    No schema names the outputs; nonzero integers are indices and lengths that the program passes.
    """
    if tensor.is_floating_point():
        return True
    with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
        return not torch.Tensor.any(tensor)

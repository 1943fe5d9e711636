"""Kernels that a library compiles when they are first used: CUDA in C++ through tvm-ffi, and the CuTe DSL.

Neither torch nor Triton knows of them: FlashInfer's and SGLang's are such. As Triton's they are not compiled, and launched
without being run, so that a machine needs no compiler; a function of tvm-ffi that is given nothing of the GPU runs.
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
    """Replace the compilation in each, now or when the program imports it."""
    patches.when_imported("tvm_ffi", lambda tvm: _replace_modules(gpu, patches, tvm))
    patches.when_imported("tvm_ffi.cpp", lambda cpp: _replace_builds(gpu, patches, cpp))
    patches.when_imported("cutlass.base_dsl.dsl", lambda dsl: _replace_dsl(gpu, patches, dsl))
    # its own way to compile what it then loads as a module of tvm-ffi
    patches.when_imported(
        "flashinfer.jit.core",
        lambda core: patches.replace(core.JitSpec, "build", lambda *args, **kwargs: None),
    )


def _replace_modules(gpu: Gpu, patches: Patches, tvm: Any) -> None:
    load = tvm.load_module

    def load_module(path: Any, *args: Any, **kwargs: Any) -> Any:
        """One that is there may hold functions for the host."""
        found = load(path, *args, **kwargs) if Path(path).exists() else None
        return _Module(gpu, Path(path).stem, found)

    patches.replace_everywhere(tvm, "load_module", load_module)


def _replace_builds(gpu: Gpu, patches: Patches, cpp: Any) -> None:
    for name in ("load", "load_inline"):
        if hasattr(cpp, name):
            patches.replace(cpp, name, _load(gpu, getattr(cpp, name)))


def _load(gpu: Gpu, original: Any) -> Any:
    def load(name: str, **options: Any) -> Any:
        """Compile what is for the host alone."""
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
    """What is loaded of tvm-ffi: it has any function that it is asked for."""

    def __init__(self, gpu: Gpu, name: str, module: Any) -> None:
        self._gpu, self._name, self._module = gpu, name, module

    def __getattr__(self, name: str) -> _Kernel:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.get_function(name)

    def __getitem__(self, name: str) -> _Kernel:
        return self.get_function(name)

    def get_function(self, name: str, query_imports: bool = False) -> _Kernel:
        """A function; AttributeError where the module is there and has none of that name."""
        function = None if self._module is None else self._module.get_function(name, query_imports)
        return _Kernel(self._gpu, f"the compiled kernel {self._name}.{name}", function)


class _Kernel:
    """What is called to launch one."""

    def __init__(self, gpu: Gpu, name: str, on_host: Any) -> None:
        self._gpu, self._name, self._on_host = gpu, name, on_host

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        operands = [tensor for tensor in tensors_in((args, kwargs)) if cuda_index(tensor) is not None]
        if self._on_host is not None and not operands:
            return self._on_host(*args, **kwargs)
        self._gpu.launched(self._name)
        taint([tensor for tensor in operands if _may_be_written(tensor)], Written({self._name}))
        return ()  # what it returns beside its outputs is not known; that of a "plan" is asked not to be None

    def to(self, device: Any = None) -> _Kernel:
        """A kernel of the CuTe DSL is loaded onto a device."""
        return self


def _may_be_written(tensor: torch.Tensor) -> bool:
    """Nothing says what such a kernel writes; the indices and lengths that it reads are numbers of the program."""
    if tensor.is_floating_point():
        return True
    with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
        return not torch.Tensor.any(tensor)

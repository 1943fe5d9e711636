"""Triton's interpreter, which computes the results of a kernel on the CPU, slowly.

With ``TRITON_INTERPRET=1``, which Triton reads at import, the interpreter runs every kernel. This module also
runs single kernels compiled for a GPU: those whose results decide the control flow of the program.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial, partialmethod
from importlib import import_module
from typing import TYPE_CHECKING, Any

import torch

from .marks import without_functions
from .memory import share_memory
from .patches import replacing
from .stores import written
from .taint import Written, clean, kernels_behind, taint

if TYPE_CHECKING:
    from .gpu import Gpu
    from .patches import Patches

_NAME = "triton.runtime.interpreter"
# Triton stores the grid position and its replacements per process, so runs exclude each other.
_one_at_a_time = threading.RLock()


def install(gpu: Gpu, patches: Patches) -> None:
    """Replace the interpreter's copies of operands, now or when the program imports the interpreter."""
    patches.when_imported(_NAME, lambda found: _replace(gpu, patches, found))


def _replace(gpu: Gpu, patches: Patches, interpreter: Any) -> None:
    _replace_execution(gpu, patches, interpreter)
    _replace_scalars(patches, interpreter)


def _replace_scalars(patches: Patches, interpreter: Any) -> None:
    """Convert the interpreter's scalars, arrays of length 1, to numbers by a method that NumPy 2.4 still supports."""
    replace = interpreter._patch_lang_tensor

    def replace_tensor(tensor: Any, *scope: Any) -> None:
        replace(tensor, *scope)
        tensor.__index__ = lambda scalar: scalar.handle.data.item()

    patches.replace(interpreter, "_patch_lang_tensor", replace_tensor)


def _replace_execution(gpu: Gpu, patches: Patches, interpreter: Any) -> None:
    """Run kernels on the operands in place; the interpreter would copy them to the host and back, caches included."""
    executor = interpreter.GridExecutor
    call = executor.__call__

    def run(launch: Any, *args: Any, **kwargs: Any) -> None:
        try:
            with _one_at_a_time, torch.no_grad(), without_functions(), torch._C._DisableTorchDispatch():
                call(
                    launch, *map(_on_host, args), **{name: _on_host(value) for name, value in kwargs.items()}
                )
        except interpreter.InterpreterError:  # the interpreter lacks some features of Triton
            not_run(gpu, launch.fn, args, kwargs)
        else:
            if gpu.uncomputed.counts:
                _pass_on(launch.fn, args, kwargs)
        if gpu.recording is not None:
            gpu.recording.add(partial(run, launch, *args, **kwargs), (), ())

    patches.replace(executor, "__call__", run)
    patches.replace(executor, "_init_args_hst", lambda launch, args, kwargs: (args, kwargs))
    patches.replace(executor, "_restore_args_dev", lambda launch, *operands: None)


def _pass_on(function: Any, args: Any, kwargs: dict[str, Any]) -> None:
    """Propagate the marks of uncomputed memory from a kernel's inputs to its outputs, and clear those of earlier launches."""
    outputs = written(function, args, kwargs)
    own = {kernel_name(function)}
    behind = frozenset().union(kernels_behind((args, kwargs))) - own
    for tensor in outputs:
        if behind:
            taint(tensor, behind)
        elif kernels_behind([tensor]) == own:
            clean(tensor)


def kernel_name(function: Any) -> str:
    """Return the name of a kernel in reports."""
    return f"the Triton kernel {function.__name__}"


def not_run(gpu: Gpu, function: Any, args: Any, kwargs: dict[str, Any]) -> None:
    """Record that the interpreter cannot run a kernel, and mark its outputs as uncomputed."""
    name = kernel_name(function)
    gpu.uncomputed.refused.add(name)
    gpu.launched(name)
    taint(written(function, args, kwargs), Written({name}))


def _on_host(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return share_memory(value, None)
    return type(value)(map(_on_host, value)) if type(value) in {tuple, list} else value


def interpret(kernel: Any, grid: Any, args: Any, kwargs: dict[str, Any]) -> None:
    """Run one kernel that was compiled for a GPU, with the functions that it calls."""
    jit, language, interpreter = map(import_module, ("triton.runtime.jit", "triton.language", _NAME))
    ready: dict[Any, Any] = {}

    def call(function: Any, *args: Any, **kwargs: Any) -> Any:
        if function not in ready:
            interpreter._patch_lang(function.fn)
            ready[function] = interpreter.InterpretedFunction(function.fn).rewrite()
        return ready[function](*args, **kwargs)

    with _one_at_a_time, replacing() as patches, _language_of_launch(patches, interpreter):
        patches.replace(jit.JITFunction, "__call__", call)
        for name, member in inspect.getmembers(language.tensor):
            if isinstance(member, jit.JITFunction):
                patches.replace(language.tensor, name, partialmethod(partial(call, member)))
        interpreter.InterpretedFunction(kernel.fn).run(*args, grid=grid, warmup=False, **kwargs)


@contextmanager
def _language_of_launch(patches: Patches, interpreter: Any) -> Iterator[None]:
    """Replace Triton's language once for each module of a launch; Triton looks through the language each time."""
    replace = interpreter._patch_lang
    scopes: dict[int, Any] = {}

    def replace_once(function: Any) -> Any:
        module = id(function.__globals__)
        if module not in scopes:
            scopes[module] = replace(function)
        return _Kept()

    patches.replace(interpreter, "_patch_lang", replace_once)
    try:
        yield
    finally:
        for scope in reversed(scopes.values()):
            if scope is not None:  # newer Triton versions restore their replacements
                scope.restore()


class _Kept:
    """Replacements that stay until the end of the launch."""

    def restore(self) -> None:
        """Do nothing."""

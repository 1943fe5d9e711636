"""``torch.compile`` in a simulation: run the function uncompiled, and know which synchronizations would break its graph.

Measurements with torch 2.13 (``torch._dynamo.explain``, which the tests repeat) show when the compiler breaks
a graph: where Python reads a number from a tensor, and where the shape of a result depends on data. Copies
between host and device become part of the graph.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

from .errors import SimulationError
from .tracebacks import without_our_frames

if TYPE_CHECKING:
    from .conditions import CompiledOperation
    from .patches import Patches

_READ = frozenset({"number", "list", "string"})  # results that are Python values, not tensors


class _Thread(threading.local):
    compiled = False  # whether the thread runs code that a GPU would run compiled


_thread = _Thread()


def install(is_running: Callable[[], bool], patches: Patches) -> None:
    """Replace `torch.compile`, and the functions by which compiled code calls uncompiled code."""
    patches.replace(torch, "compile", _compile)
    if hasattr(torch.compiler, "load_compiled_function"):
        patches.replace(torch.compiler, "load_compiled_function", _refusal("load_compiled_function"))
    compiler = torch._C._dynamo.eval_frame
    replaced = _set_eval_frame(is_running, compiler.set_eval_frame)
    for owner in (compiler, sys.modules.get("torch._dynamo.eval_frame")):
        for name in ("set_eval_frame", "_maybe_set_eval_frame"):
            if hasattr(owner, name):
                patches.replace(owner, name, replaced)


def breaks_graph(operation: CompiledOperation | None, api: str, effect: str) -> bool:
    """Return whether a synchronization in this thread would break the graph of a compiled function."""
    if not _thread.compiled:
        return False
    settings = sys.modules.get("torch._dynamo.config")
    if effect == "shape depends on data":
        return not getattr(settings, "capture_dynamic_output_shape_ops", False)
    if effect == "reads a scalar":
        return "__bool__" in api or not getattr(settings, "capture_scalar_outputs", False)
    return effect == "download" and operation is not None and operation.result in _READ


@contextmanager
def left() -> Iterator[None]:
    """Run code that is outside the graph: the body of an operation that the program defines."""
    before, _thread.compiled = _thread.compiled, False
    try:
        yield
    finally:
        _thread.compiled = before


def _compile(model: Any = None, **options: Any) -> Any:
    if model is None:
        return functools.partial(_compile, **options)
    if options.get("disable") or isinstance(model, type):
        return model
    if isinstance(model, torch.nn.Module):
        from torch._dynamo.eval_frame import OptimizedModule  # noqa: PLC0415 (slow to import)

        module: Any = OptimizedModule(model, _compiled)  # type: ignore[arg-type]  # called to compile a function
        module._torchdynamo_orig_callable = model.forward
        return module
    return _compiled(model)


def _compiled(function: Any) -> Any:
    @without_our_frames
    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        before, _thread.compiled = _thread.compiled, True
        try:
            return function(*args, **kwargs)
        finally:
            _thread.compiled = before

    known: Any = run
    known._torchdynamo_orig_callable = function
    known.aot_compile = lambda example_inputs: _AheadOfTime(function)
    return known


class _AheadOfTime:
    """The result of ``aot_compile``; for a method, a function that takes the object too."""

    def __init__(self, function: Any) -> None:
        self._run = _compiled(getattr(function, "__func__", function))
        self.save_compiled_function = _refusal("save_compiled_function")  # a GPU could not load the result

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._run(*args, **kwargs)


def _refusal(name: str) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise SimulationError(
            f"{name} cannot be simulated: nothing is compiled here, so let it be compiled again"
        )

    return refuse


def _inside() -> None:
    """Stand for the compiler where torch asks for the current callback in order to restore it later."""


def _set_eval_frame(is_running: Callable[[], bool], original: Any) -> Any:
    """Return a replacement for the function by which the compiler is entered, and left for uncompiled functions.

    A torch module imported during the simulation keeps the replacement for good.
    """

    def set_eval_frame(callback: Any) -> Any:
        before = _inside if _thread.compiled else None
        _thread.compiled = callback is _inside
        if _thread.compiled:
            callback = None
        if callable(callback) and is_running():
            raise SimulationError("torch._dynamo cannot be simulated: leave the function as it is written")
        prior = original(callback)
        return before or prior

    return set_eval_frame

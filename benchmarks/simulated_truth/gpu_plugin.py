"""Puts the tensors and modules of a test suite on the GPU; `collect.py` gives it to the pytest that it starts.

A suite that names no device tests a library on the host. Here what the tests make lives on the GPU, as in the program of
a user who writes ``x.cuda()`` and ``model.cuda()``: factories that a test calls without a device make tensors there, and
an ``nn.Module`` is moved when it is complete. What the library makes without a device stays on the host, as in that
program; a default device would move that too, and the library's uploads with it. Tests run in an order by the hash of
their names, so that a suite which is cut short is a sample.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SHARED_MEMORY = ("from_numpy", "frombuffer", "from_dlpack")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the folders of the tests."""
    parser.addoption(
        "--truth-tests", action="append", default=[], metavar="PATH", help="whose tensors are on the GPU"
    )


@pytest.hookimpl(trylast=True)  # a simulation has begun by then
def pytest_configure(config: pytest.Config) -> None:
    """Begin to move what the tests make."""
    if roots := tuple(config.getoption("truth_tests")):
        tensors_of_tests(roots).__enter__()
        move_modules()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order the tests by the hash of their names."""
    items.sort(key=lambda item: hashlib.sha256(item.nodeid.encode()).digest())


def tensors_of_tests(roots: tuple[str, ...]) -> Any:
    """Return a function mode that makes the tensors of files below some folders on the GPU."""
    import torch  # noqa: PLC0415 (not before the simulation)
    from torch.overrides import TorchFunctionMode  # noqa: PLC0415
    from torch.utils._device import _device_constructors  # noqa: PLC0415

    makers = frozenset(_device_constructors())
    reads = frozenset({torch.Tensor.numpy, torch.Tensor.__array__})
    passed_by = (str(Path(torch.__file__).parent), __file__)

    def asks_test() -> bool:
        frame = sys._getframe(2)
        while frame.f_back is not None and (
            frame.f_code.co_filename.startswith(passed_by)
            or "_syncscan_simulate" in frame.f_globals["__name__"]
        ):
            frame = frame.f_back
        return frame.f_code.co_filename.startswith(("<doctest", *roots))

    class TensorsOfTests(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = kwargs or {}
            if func in makers:
                if kwargs.get("device") is None and not kwargs.get("pin_memory") and asks_test():
                    return _made_on_gpu(func, args, kwargs)
            elif func in reads and asks_test():
                args = (args[0].detach().cpu(), *args[1:])
            return func(*args, **kwargs)

    for name in SHARED_MEMORY:  # no mode sees these
        setattr(torch, name, _moved(getattr(torch, name), asks_test))
    return TensorsOfTests()


def _moved(function: Callable[..., Any], asks_test: Callable[[], bool]) -> Callable[..., Any]:
    """Return a function whose result a test gets on the GPU."""

    @functools.wraps(function)
    def moved(*args: Any, **kwargs: Any) -> Any:
        made = function(*args, **kwargs)
        return made.to("cuda") if asks_test() else made

    return moved


def _made_on_gpu(func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """Call a factory for the GPU; random numbers of a generator of the host are drawn there first."""
    if kwargs.get("out") is not None:
        return func(*args, **kwargs)
    generator = kwargs.get("generator")
    if generator is not None and generator.device.type == "cpu":
        return func(*args, **kwargs).to("cuda")
    return func(*args, **{**kwargs, "device": "cuda"})


def move_modules() -> None:
    """Move each module to the GPU when the outermost constructor has returned."""
    import torch  # noqa: PLC0415 (not before the simulation)

    modules = torch.nn.Module
    for kind in _subclasses(modules):
        if kind.__module__.startswith("torch.nn.modules"):
            _wrap(kind)
    subclassed = modules.__init_subclass__

    def init_subclass(cls: type, **kwargs: Any) -> None:
        subclassed(**kwargs)
        if not cls.__module__.startswith("torch."):
            _wrap(cls)

    modules.__init_subclass__ = classmethod(init_subclass)  # type: ignore[assignment]


def _subclasses(kind: type) -> set[type]:
    return {kind}.union(*map(_subclasses, type.__subclasses__(kind))) - {object}


class _Depth(threading.local):
    """How many constructors of modules a thread is in."""

    now = 0


_depth = _Depth()


def _wrap(kind: Any) -> None:
    original = kind.__dict__.get("__init__")
    if original is None or kind.__qualname__ == "Module" or not callable(original):
        return

    @functools.wraps(original)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        _depth.now += 1
        try:
            original(self, *args, **kwargs)
        finally:
            _depth.now -= 1
        if not _depth.now:
            move_module(self)

    kind.__init__ = init


def move_module(module: Any) -> None:
    """Move a module to the GPU; `collect.py` tells its copies from those of the library by this name."""
    with contextlib.suppress(Exception):  # it stays where it is, as where its user leaves it on the host
        module.to("cuda")

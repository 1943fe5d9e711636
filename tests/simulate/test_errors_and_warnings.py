"""Errors and warnings of torch have simulated the frames and lines that they have on the CPU."""

# ruff: noqa: PLW0108 (the function is looked up while it is simulated)
from __future__ import annotations

import copy
import sys
import traceback
import types
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch

from syncscan.simulate.context import simulated_cuda
from syncscan.simulate.inside import unseen
from tests.simulate.programs import ramp


class Doubles(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        raise ValueError("in backward")


class Fails(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        raise ValueError("in forward")


class Overrides(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        raise ValueError("in an override")


def fail(*_: Any) -> None:
    raise ZeroDivisionError


def grad_of_hook(x: torch.Tensor) -> Any:
    leaf = x.clone().requires_grad_()
    leaf.register_hook(fail)
    return torch.autograd.grad((leaf * 2).sum(), leaf)


ERRORS: dict[str, Callable[[torch.Tensor], Any]] = {
    "a kernel": lambda x: x @ torch.zeros(7, device=x.device),
    "a constructor": lambda x: torch.zeros(-1, device=x.device),
    "a transfer": lambda x: x.to("nothing"),
    "an index": lambda x: x[70],
    "a number": lambda x: x.item(),
    "a module": lambda x: torch.nn.Linear(5, 4).to(x.device)(x),
    "a function": lambda x: Fails.apply(x),
    "an override": lambda x: x.as_subclass(Overrides) + 1,
    "vmap": lambda x: torch.func.vmap(lambda row: row @ row[:2])(x),
}
TWICE: dict[str, Callable[[torch.Tensor], Any]] = {
    "backward": lambda x: Doubles.apply(x.clone().requires_grad_()).sum().backward(),
    "a hook of a gradient": grad_of_hook,
    "a function in Python": lambda x: torch.nn.functional.dropout(x, 3),
}


def frames(error: BaseException) -> list[tuple[str, int | None]]:
    return [(frame.name, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]


def frames_of(program: Callable[[torch.Tensor], Any], device: str) -> list[tuple[str, int | None]]:
    with pytest.raises((RuntimeError, ValueError, IndexError, ZeroDivisionError)) as found:
        program(ramp(device, 2, 3))
    return frames(found.value)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="a bare raise keeps its frame")
@pytest.mark.parametrize("name", ERRORS)
def test_an_error_has_the_frames_of_the_cpu(name):
    expected = frames_of(ERRORS[name], "cpu")
    with simulated_cuda():
        assert frames_of(ERRORS[name], "cuda") == expected


@pytest.mark.skipif(sys.version_info < (3, 11), reason="a bare raise keeps its frame")
@pytest.mark.parametrize("name", TWICE)
def test_a_function_of_torch_in_python_is_called_again_as_in_any_mode_and_no_frame_is_ours(name):
    expected = frames_of(TWICE[name], "cpu")
    with simulated_cuda():
        found = frames_of(TWICE[name], "cuda")
    again = next((n for n, (function, _) in enumerate(found) if function == "handle_torch_function"), None)
    assert (found if again is None else found[: again - 1] + found[again + 1 :]) == expected


def test_a_defect_of_the_simulation_is_shown_with_its_frames(monkeypatch):
    with simulated_cuda(), monkeypatch.context() as changed:
        x = torch.zeros(2, device="cuda")
        changed.delattr("syncscan.simulate.inside.modes.common_place")
        with pytest.raises(NameError) as found:
            torch.neg(x)
    assert "_simulate" in [name for name, _ in frames(found.value)]


class AlarmError(Exception):
    pass


@pytest.mark.skipif(sys.version_info < (3, 11), reason="a bare raise keeps its frame")
def test_a_handler_that_raises_in_the_library_below_the_simulation_is_where_the_program_was():
    def refuse(sync: object) -> None:
        copy.copy(Alarm())

    class Alarm:
        def __copy__(self) -> Alarm:
            raise AlarmError

    code = refuse.__code__.replace(co_filename=unseen.__file__)  # a frame of the simulation
    with simulated_cuda(types.FunctionType(code, globals(), closure=refuse.__closure__)):
        x = torch.ones(1, device="cuda")
        with pytest.raises(AlarmError) as found:
            x.item()
    assert [name for name, _ in frames(found.value)][1:] == ["__copy__"]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="a bare raise keeps its frame")
def test_what_a_listener_of_the_program_raises_has_no_frames_between():
    def refuse(sync: object) -> None:
        raise ValueError("no synchronization here")

    with simulated_cuda(refuse):
        x = torch.ones(1, device="cuda")
        with pytest.raises(ValueError, match="no synch") as found:
            x.item()
    assert [name for name, _ in frames(found.value)][1:] == ["refuse"]


def is_on_gpu(x: torch.Tensor) -> None:
    assert x.device.type == "cuda"


AT_THE_LIMIT: dict[str, Callable[[torch.Tensor], Any]] = {
    "an operation": lambda x: x + 1,
    "a number": lambda x: x[0, 0].item(),
    "an attribute": is_on_gpu,
    "a constructor": lambda x: torch.zeros(2, device=x.device),
}


@pytest.mark.skipif(sys.version_info < (3, 11), reason="a bare raise keeps its frame")
@pytest.mark.parametrize("name", AT_THE_LIMIT)
def test_at_the_limit_of_the_recursion_is_one_error_without_frames_of_the_simulation(name):
    def deeper(x: torch.Tensor) -> None:
        AT_THE_LIMIT[name](x)
        deeper(x)

    with simulated_cuda():
        x = ramp("cuda", 2, 3)
        with pytest.raises(RecursionError) as found:
            deeper(x)
    assert found.value.__context__ is None
    files = {frame.filename for frame in traceback.extract_tb(found.value.__traceback__)}
    assert not [file for file in files if "/simulate/inside/" in file]


WARNINGS: dict[str, Callable[[torch.Tensor], Any]] = {
    "C++": lambda x: x.expand(2, 2, 3).T,
    "a reduction": lambda x: x.std(0, correction=5),
    "an attribute": lambda x: (x.clone().requires_grad_() * 2).grad,
    "a cast": lambda x: x.to(torch.complex64).to(torch.float32),
    "a constructor": lambda x: torch.tensor(x),
    "range": lambda x: torch.range(0, 1),
    "vmap": lambda x: torch.func.vmap(lambda row: row.std(0, correction=5))(x),
    "Python": lambda x: torch.nn.functional.softmax(x),
    "Python, five levels up": lambda x: torch.nn.Softmax()(x),
}


def lines_warned(program: Callable[[torch.Tensor], Any], device: str) -> list[tuple[str, int]]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        torch.set_warn_always(True)  # also where torch says so once in a process
        try:
            program(ramp(device, 2, 3))
        finally:
            torch.set_warn_always(False)
    return [(warning.filename, warning.lineno) for warning in found]


@pytest.mark.parametrize("name", WARNINGS)
def test_a_warning_is_about_the_line_that_it_is_about_on_the_cpu(name):
    expected = lines_warned(WARNINGS[name], "cpu")
    assert expected
    with simulated_cuda():
        assert lines_warned(WARNINGS[name], "cuda") == expected


def test_each_line_is_warned_of_once():
    def program(device: str) -> None:
        x = ramp(device, 2, 3)
        for _ in range(3):
            x.std(0, correction=5)
        x.std(0, correction=5)

    def shown(device: str) -> list[tuple[str, int]]:
        globals().pop("__warningregistry__", None)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("default")
            program(device)
        return [(warning.filename, warning.lineno) for warning in found]

    expected = shown("cpu")
    assert len(expected) == 2
    with simulated_cuda():
        assert shown("cuda") == expected


def test_a_filter_of_the_program_raises_a_warning():
    with simulated_cuda(), warnings.catch_warnings():
        warnings.filterwarnings("error", module=__name__)
        with pytest.raises(UserWarning, match="degrees of freedom"):
            torch.ones(2, device="cuda").std(correction=5)

"""Errors and warnings of torch have simulated the frames and lines that they have on the CPU."""

# ruff: noqa: PLW0108 (the function is looked up while it is simulated)
from __future__ import annotations

import copy
import re
import sys
import traceback
import types
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch

from syncscan.simulate.context import simulated_cuda
from syncscan.simulate.inside import tracebacks
from tests.simulate.programs import ramp

without_frames = pytest.mark.skipif(sys.version_info < (3, 11), reason="a bare raise keeps its frame")


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


def squared(x: torch.Tensor) -> torch.Tensor:
    return x @ x


with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    scripted = torch.jit.script(squared)


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
    "a method that falls back to torch": lambda x: x.cpu().pin_memory(3, 4),
    "a module that is moved": lambda x: torch.nn.Linear(5, 4).to("nothing"),
    "a range": lambda x: torch.range("a"),
    "a nested tensor": lambda x: torch.nested.nested_tensor([1, "a"]),
    "a storage": lambda x: torch.UntypedStorage("a"),
    "a storage that is moved": lambda x: x.untyped_storage().to("cpu"),
    "a storage that is moved nowhere": lambda x: x.untyped_storage().to(device="nothing"),
    "a copy of a storage": lambda x: x.untyped_storage().clone(3),
    "an event": lambda x: torch.Event("nothing"),
    "an event by its name": lambda x: torch.Event(device="nothing"),
    "a capsule": lambda x: torch.utils.dlpack.to_dlpack(3),
    "a generator": lambda x: torch.Generator("nothing"),
    "a stream": lambda x: torch.Stream("nothing"),
    "autocast": lambda x: torch.autocast("nothing"),
    "autocast with too many words": lambda x: torch.set_autocast_enabled("cpu", True, 3),
    "a dtype of autocast with too many words": lambda x: torch.set_autocast_dtype("cpu", torch.half, 3),
    "a generator with too many words": lambda x: torch.Generator(1, 2, 3),
    "the device with too many words": lambda x: torch.cuda.synchronize(1, 2),
    "a device index": lambda x: torch.get_device(3),
    "a CUDA stream with too many words": lambda x: torch.cuda.Stream(1, 2, 3),
    "a CUDA event with too many words": lambda x: torch.cuda.Event(1, 2, 3, 4, 5),
    "a CUDA event with another word": lambda x: torch.cuda.Event(other=1),
    "an event with too many words": lambda x: torch.Event(1, 2),
    "an event with a number for a flag": lambda x: torch.Event(enable_timing=1),
    "a stream with another word": lambda x: torch.Stream(other=1),
    "a stream with a word for its priority": lambda x: torch.Stream(priority="high"),
    "a CUDA graph with too many words": lambda x: torch.cuda.CUDAGraph(1, 2),
    "a CUDA graph with another word": lambda x: torch.cuda.CUDAGraph(other=1),
    "a capture without a graph": lambda x: torch.cuda.graph(),
    "a capture with another word": lambda x: torch.cuda.graph(1, other=1),
    "a graph of any device": lambda x: torch.accelerator.Graph(1, 2),
    "a method of a CUDA graph": lambda x: torch.cuda.CUDAGraph.replay(1, 2),
    "a method of a CUDA stream": lambda x: torch.cuda.Stream.query(1, 2),
    "a method of a CUDA event": lambda x: torch.cuda.Event.record(1, 2, 3),
    "a type": lambda x: x.cpu().type("nothing"),
    "the type of all tensors": lambda x: torch.set_default_tensor_type("nothing"),
    "a scripted function": lambda x: scripted(x),
}
LOST_MESSAGE = {"a scripted function"}  # TorchScript drops what a mode raises
TWICE: dict[str, Callable[[torch.Tensor], Any]] = {
    "backward": lambda x: Doubles.apply(x.clone().requires_grad_()).sum().backward(),
    "a hook of a gradient": grad_of_hook,
    "a function in Python": lambda x: torch.nn.functional.dropout(x, 3),
}


def frames(error: BaseException) -> list[tuple[str, int | None]]:
    return [(frame.name, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]


def error_of(program: Callable[[torch.Tensor], Any], device: str) -> tuple[list[tuple[str, int | None]], str]:
    """Return the frames and the message of the error in which a program ends."""
    with pytest.raises(
        (RuntimeError, ValueError, IndexError, TypeError, ImportError, ZeroDivisionError)
    ) as found:
        program(ramp(device, 2, 3))
    return frames(found.value), re.sub("cuda:0|cpu", "DEVICE", str(found.value))


@without_frames
@pytest.mark.parametrize("name", ERRORS)
def test_an_error_has_the_frames_and_the_message_of_the_cpu(name):
    expected = error_of(ERRORS[name], "cpu")
    with simulated_cuda():
        found = error_of(ERRORS[name], "cuda")
    assert found[0] == expected[0]
    assert (found[1] == expected[1]) is (name not in LOST_MESSAGE)


@without_frames
@pytest.mark.parametrize("name", TWICE)
def test_a_function_of_torch_in_python_is_called_again_as_in_any_mode_and_no_frame_is_ours(name):
    expected, _ = error_of(TWICE[name], "cpu")
    with simulated_cuda():
        found, _ = error_of(TWICE[name], "cuda")
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


@without_frames
def test_a_handler_that_raises_in_the_library_below_the_simulation_is_where_the_program_was():
    def refuse(sync: object) -> None:
        copy.copy(Alarm())

    class Alarm:
        def __copy__(self) -> Alarm:
            raise AlarmError

    code = refuse.__code__.replace(co_filename=tracebacks.__file__)  # a frame of the simulation
    with simulated_cuda(types.FunctionType(code, globals(), closure=refuse.__closure__)):
        x = torch.ones(1, device="cuda")
        with pytest.raises(AlarmError) as found:
            x.item()
    assert [name for name, _ in frames(found.value)][1:] == ["__copy__"]


INTERRUPTED: dict[str, Callable[[torch.Tensor], Any]] = {
    "an operation": lambda x: x + x,
    "a number": lambda x: x[0, 0].item(),
    "an attribute": lambda x: x.device,
    "a transfer": lambda x: x.cpu(),
    "a constructor": lambda x: torch.zeros(2, device=x.device),
    "backward": lambda x: (x.clone().requires_grad_() * 2).sum().backward(),
    "a wait for the GPU": lambda x: torch.cuda.synchronize(),
}


@without_frames
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", INTERRUPTED)
def test_a_handler_that_raises_at_any_moment_leaves_no_frame_of_the_simulation(name):
    """Python runs a handler at the entry of a function, before its first statement, and after a call.

    At the entry of the outermost function of the simulation, that function cannot catch anything yet.
    """
    with simulated_cuda():
        x = ramp("cuda", 2, 3)
        INTERRUPTED[name](x)
        moments = 0
        while (found := interrupted(INTERRUPTED[name], x, moments)) is not None:
            moments += 1
            first_lines = [line.startswith("def ") or "wraps(" in line for line in found]
            assert found == [] or first_lines == [True], (moments, found)
    assert moments > 3


def interrupted(program: Callable[[torch.Tensor], Any], x: torch.Tensor, moment: int) -> list[str] | None:
    """Return the lines of the simulation in the traceback of a handler that raises; None if the program ends before."""
    left = moment

    def raise_once(frame: types.FrameType, event: str, _: object) -> None:
        nonlocal left
        if event in {"call", "c_return"} and "/simulate/inside/" in frame.f_code.co_filename:
            left -= 1
            if left == -1:
                raise AlarmError

    sys.setprofile(raise_once)
    try:
        program(x)
    except AlarmError as error:
        stack = traceback.extract_tb(error.__traceback__)
        return [str(frame.line) for frame in stack if "/simulate/inside/" in frame.filename]
    finally:
        sys.setprofile(None)
    return [] if left < 0 else None  # Python itself drops what is raised as a generator is closed


@without_frames
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


@without_frames
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


def _masked(shape: tuple[int, ...], index: Any, number: Any, dtype: torch.dtype) -> Callable[[], Any]:
    def store() -> Any:
        target = torch.zeros(6, dtype=dtype, device="cuda").view(shape)
        mask = torch.arange(6, device="cuda").view(shape) > 2
        target[index(mask)] = number()
        return target.tolist()

    return store


# On an H200 a number of the GPU is not converted in a store through a mask; one of the host is.
STORES: dict[str, tuple[Callable[[], Any], str | None]] = {
    "scalar": (_masked((6,), lambda m: m, lambda: torch.tensor(3, device="cuda"), torch.float32), "Long"),
    "element": (_masked((6,), lambda m: m, lambda: torch.tensor([3], device="cuda"), torch.int32), "Long"),
    "sum": (
        _masked(
            (6,), lambda m: m, lambda: torch.ones(3, dtype=torch.int32, device="cuda").sum(), torch.int32
        ),
        "Long",
    ),
    "no place": (
        _masked((6,), lambda m: m & ~m, lambda: torch.tensor(3.0, device="cuda"), torch.int64),
        "Float",
    ),
    "matrix": (_masked((2, 3), lambda m: m, lambda: torch.tensor(3.0, device="cuda"), torch.bool), "Float"),
    "column": (
        _masked(
            (2, 3), lambda m: (m[:, 0], slice(0, 2)), lambda: torch.tensor(3.0, device="cuda"), torch.half
        ),
        "Float",
    ),
    "host mask": (_masked((6,), lambda m: m.cpu(), lambda: torch.tensor(3), torch.float32), "Long"),
    "same dtype": (_masked((6,), lambda m: m, lambda: torch.tensor(3.0, device="cuda"), torch.float32), None),
    "host scalar": (_masked((6,), lambda m: m, lambda: torch.tensor(3), torch.float32), None),
    "number": (_masked((6,), lambda m: m, lambda: 3, torch.float32), None),
    "slice": (
        _masked((6,), lambda _: slice(3, 6), lambda: torch.tensor(3, device="cuda"), torch.float32),
        None,
    ),
}


@pytest.mark.parametrize("name", STORES)
def test_a_store_through_a_mask_converts_no_number_of_the_gpu(name: str) -> None:
    store, dtype = STORES[name]
    with simulated_cuda():
        if dtype is None:
            assert store() == [0.0, 0.0, 0.0, 3.0, 3.0, 3.0]
        else:
            message = f"Index put requires the source and destination dtypes match.*{dtype} for the source"
            with pytest.raises(RuntimeError, match=message):
                store()


def test_a_function_that_stores_through_a_mask_converts_no_number_of_the_gpu() -> None:
    with simulated_cuda():
        target, number = torch.zeros(3, device="cuda"), torch.tensor(3, device="cuda")
        with pytest.raises(RuntimeError, match="Index put requires"):
            target.index_put_(indices=(target == 0,), values=number)
        with pytest.raises(RuntimeError, match="Index put requires"):
            torch.index_put(target, (target == 0,), number)


@pytest.mark.parametrize("index", [torch.tensor([True, False, True]), torch.tensor([0, 2])])
def test_a_host_tensor_is_stored_into_through_an_index_of_the_gpu(index: torch.Tensor) -> None:
    with simulated_cuda() as waits:
        target, device_index = torch.zeros(3), index.cuda()
        waits.clear()
        target[device_index] = 2.0
        made = target.index_put((device_index,), torch.tensor(1.0, device="cuda"))
        assert (target.tolist(), made.tolist(), made.device.type) == ([2.0, 0.0, 2.0], [1.0, 0.0, 1.0], "cpu")
        assert len(waits) >= 2


def test_values_on_another_device_are_moved_only_if_single_numbers() -> None:
    with simulated_cuda():
        for device, other in ("cpu", "cuda"), ("cuda", "cpu"):
            target, index = torch.zeros(3, device=device), torch.tensor([0, 2], device=device)
            target[index] = torch.tensor([4.0], device=other)
            assert target.tolist() == [4.0, 0.0, 4.0]
            with pytest.raises(RuntimeError, match=r"at least two devices, cuda:0 and cpu"):
                target[index] = torch.ones(2, device=other)
        assert target.index_put((target > 3,), torch.tensor([5.0])).tolist() == [5.0, 0.0, 5.0]


def test_a_host_tensor_converts_the_numbers_that_are_stored_through_a_mask() -> None:
    with simulated_cuda():
        target = torch.zeros(3)
        target[torch.tensor([True, False, True])] = torch.tensor(2)
    assert target.tolist() == [2, 0, 2]

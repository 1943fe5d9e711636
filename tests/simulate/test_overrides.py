"""Programs that bring classes, modes and hooks of their own give simulated what they give on the CPU."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import pytest
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from tests.simulate.programs import Host, Program, check_program, ramp

PROGRAMS: dict[str, Program] = {}


def program(function: Program) -> Program:
    PROGRAMS[function.__name__] = function
    return function


class Lazy:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        device = next(arg for arg in args if isinstance(arg, torch.Tensor)).device
        return torch.tensor([1.0], device=device) + torch.zeros(1, device=device), Host(torch.zeros(2))


@program
def an_override_makes_tensors(device: str) -> Any:
    x = ramp(device, 2)
    return x - Lazy(), torch.matmul(Lazy(), x), torch.nn.functional.relu(x + 1)


def class_that_knows_methods() -> Any:
    """As torchvision's tensors know those of torch: the functions themselves are in a set."""

    class Kept(torch.Tensor):
        known = frozenset(
            {torch.Tensor.to, torch.Tensor.cpu, torch.Tensor.get_device, torch.Tensor.device.__get__}
        )
        seen: list[Any] = []  # noqa: RUF012 (one list, of the class, is meant)

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            with torch._C.DisableTorchFunctionSubclass():
                result = func(*args, **(kwargs or {}))
            if func not in cls.known:
                return result
            cls.seen.append((func.__name__, func is torch.Tensor.to))
            return result.as_subclass(cls) if isinstance(result, torch.Tensor) else result

    return Kept


def what_it_keeps(kind: Any, device: str) -> Any:
    kind.seen.clear()
    kept = torch.ones(2).as_subclass(kind).to(device)
    kept.get_device()
    types_kept = [
        type(x).__name__ for x in (kept, kept.cpu(), kept + 1, kept.double(), kept.to(torch.float64))
    ]
    return kept.as_subclass(torch.Tensor) * 2, kept.device.type, types_kept, list(kind.seen)


Known = class_that_knows_methods()


@program
def an_override_knows_methods(device: str) -> Any:
    return what_it_keeps(Known, device)


@program
def an_override_that_is_imported_now_knows_methods(device: str) -> Any:
    return what_it_keeps(class_that_knows_methods(), device)


@program
def methods_are_those_of_torch(device: str) -> Any:
    methods = torch.Tensor.to, torch.Tensor.device.__get__, ramp(device, 2).to
    texts = (
        repr(methods[0]),
        methods[0].__doc__[:40],
        torch.Tensor.device.__doc__,
        torch.overrides.resolve_name(methods[0]),
    )
    return (
        [method.__name__ for method in methods],
        texts,
        pickle.loads(pickle.dumps(methods[0])) == methods[0],
    )


class Boxed(torch.Tensor):
    """Holds another tensor, and does what is done with it."""

    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(
            cls, inner.shape, strides=inner.stride(), dtype=inner.dtype, device=inner.device
        )

    def __init__(self, inner):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        args = [arg.inner if isinstance(arg, cls) else arg for arg in args]
        return cls(func(*args, **(kwargs or {})))


@program
def a_class_that_computes(device: str) -> Any:
    boxed = Boxed(ramp(device, 3))
    result = (boxed * 2 + boxed).sum()
    return result.inner, [tensor.device.type == device for tensor in (boxed, result, boxed.exp())]


class Logged(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.devices: list[str] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        self.names.append(str(func))
        self.devices.append(result.device.type if isinstance(result, torch.Tensor) else "")
        return result


class Passing(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


@program
def modes(device: str) -> Any:
    with Logged() as logged, Passing():
        x = torch.ones(3, device=device)
        result = x * 2 + x.new_zeros(3), Host(x.to("cpu")), x.sum().item()
    return result, logged.names[:3], [place == device for place in logged.devices[:3]]


@program
def hooks_around_saved_tensors(device: str) -> Any:
    x, y = ramp(device, 3).requires_grad_(), ramp(device, 3).requires_grad_()
    with torch.autograd.graph.save_on_cpu(pin_memory=device == "cuda"):
        kept = (x * x).sin()
    with torch.autograd.graph.saved_tensors_hooks(
        lambda t: (t, t * torch.ones(3, device=device)), lambda ts: ts[1]
    ):
        changed = (y * y).sin()
    (kept + changed).sum().backward()
    return x.grad, y.grad


@program
def the_old_range(device: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.range(0, 2, device=device), Host(torch.range(0, 2, 0.5))


@program
def the_default_device_of_a_thread_is_its_own(device: str) -> Any:
    import threading  # noqa: PLC0415

    made = []
    with torch.device(device):
        thread = threading.Thread(target=lambda: made.append(torch.zeros(2)))
        thread.start()
        thread.join()
        here = torch.zeros(2)
    return here, Host(made[0])


@program
def a_module_that_is_not_initialised_yet(device: str) -> Any:
    return torch.nn.LazyLinear(2, bias=False).to(device)(torch.zeros(1, 3, device=device))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_what_it_gives_on_the_cpu(name: str) -> None:
    check_program(PROGRAMS[name])

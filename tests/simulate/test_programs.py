"""A program that passes on the CPU passes simulated: the same values, and each tensor where it belongs."""

from __future__ import annotations

import copy
import io
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from syncscan.simulate.context import simulated_cuda
from syncscan.simulate.inside.errors import SimulationError
from tests.simulate.programs import Host, Program, check_program, ramp

pytestmark = [
    pytest.mark.filterwarnings("ignore:TypedStorage is deprecated"),
    pytest.mark.filterwarnings("ignore:`torch.jit"),
    pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors"),
]


PROGRAMS: dict[str, Program] = {}


def program(function: Program) -> Program:
    PROGRAMS[function.__name__] = function
    return function


def types_of(device: str) -> Any:
    return torch if device == "cpu" else torch.cuda


# to another kind


@program
def type_as(device: str) -> Any:
    x, host = ramp(device, 2), torch.eye(2, dtype=torch.float64)
    return host.type_as(x), Host(x.type_as(host)), x.type_as(x.double())


@program
def legacy_new(device: str) -> Any:
    x = ramp(device, 2)
    return (
        x.new([1.0, 2.0]),
        x.new(2, 3).zero_(),
        x.new(),
        x.new(ramp(device, 3)),
        x.new(torch.Size([2])).zero_(),
    )


@program
def new_forms(device: str) -> Any:
    x = ramp(device, 2)
    made = x.new_zeros(3), x.new_ones(3), x.new_full((2,), 3), x.new_tensor([1, 2]), x.new_empty(2).zero_()
    return made, Host(x.new_zeros(3, device="cpu")), Host(x.new_tensor([1], device="cpu"))


@program
def legacy_types(device: str) -> Any:
    kind, whole = types_of(device).FloatTensor, types_of(device).LongTensor
    x = kind([1.0, 2.0])
    is_one = isinstance(x, kind), isinstance(x, whole), isinstance(x.long(), whole), isinstance(3, kind)
    return x, whole(3).zero_(), kind(2, 3).zero_(), kind(), torch.ones(2).type(kind), is_one, kind.dtype


@program
def default_tensor_type(device: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.set_default_tensor_type(types_of(device).DoubleTensor)
        try:
            return torch.zeros(2), torch.tensor([1.0])
        finally:
            torch.set_default_tensor_type(torch.FloatTensor)


@program
def storages(device: str) -> Any:
    made = torch.UntypedStorage(8, device=device)
    typed = torch.TypedStorage(2, dtype=torch.float32, device=device)
    x = torch.empty(0, device=device).set_(made.fill_(0), 0, (2,), (1,))
    copied = pickle.loads(pickle.dumps(x.storage()))
    return x, [storage.device.type == device for storage in (made, typed, made.clone(), copied)]


@program
def set_to_nothing(device: str) -> Any:
    x = ramp(device, 3)
    x.set_()
    return x


@program
def dlpack(device: str) -> Any:
    x = ramp(device, 3)
    shared = torch.from_dlpack(x)
    shared[0] = 9
    return x, shared, Host(torch.from_dlpack(np.ones(3)))


# nested, named, quantised


@program
def nested(device: str) -> Any:
    made = torch.nested.nested_tensor([[1.0], [2.0, 3.0]], device=device)
    moved = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]).to(device)
    return made.to_padded_tensor(0.0), (moved + moved).to_padded_tensor(0.0), list(made.unbind())


@program
def jagged(device: str) -> Any:
    a, b = ramp(device, 2, 3).requires_grad_(), ramp(device, 4, 3).requires_grad_()
    both = torch.nested.as_nested_tensor([a, b], layout=torch.jagged)
    (both * 3).values().sum().backward()
    made = torch.nested.nested_tensor([[1.0], [2.0, 3.0]], device=device, layout=torch.jagged)
    return a.grad, b.grad, both.device.type == device, made.values(), made.offsets()


# transforms and captures


@program
def functionalised(device: str) -> Any:
    return torch.func.functionalize(lambda x: x.clone().add_(1) * 2)(ramp(device, 3))


@program
def forward_derivatives(device: str) -> Any:
    x, ones = ramp(device, 3), torch.ones(3, device=device)
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x, ones)
        parts = torch.autograd.forward_ad.unpack_dual(dual.sin().sort().values)
    return (
        tuple(parts),
        torch.func.jvp(torch.sin, (x,), (ones,)),
        torch.func.jvp(lambda y: y.to(device), (x,), (x,)),
        forward_derivative(lambda y: y.double() / 4, x),
        forward_derivative(lambda y: 2 - y / 3, x.double()),
    )


def forward_derivative(function: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> Any:
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x, torch.ones_like(x))
        return tuple(torch.autograd.forward_ad.unpack_dual(function(dual)))


@program
def without_memory(device: str) -> Any:
    x = ramp(device, 2, 3)
    made = x.to("meta"), torch.empty_like(x, device="meta"), torch.ops.aten.to.dtype_layout(x, device="meta")
    of_module = torch.nn.Linear(3, 2, device=device).to("meta").weight
    results = *made, of_module, made[0] + 1, x.to(device="meta", dtype=torch.half)
    return [(result.device.type, result.is_meta, result.is_cuda, result.dtype) for result in results]


@program
def traced(device: str) -> Any:
    function = torch.jit.trace(
        lambda a: 2 - a.sum(0) * 2 + torch.ones(3, device=a.device), ramp(device, 4, 3)
    )
    module = torch.jit.trace(torch.nn.Flatten(), ramp(device, 2, 2, 2))
    return function(ramp(device, 4, 3)), function(ramp(device, 5, 3)), module(ramp(device, 3, 2, 2))


@program
def scripted(device: str) -> Any:
    function = torch.jit.CompilationUnit("""
        def f(x):
            y = torch.zeros([2], device=x.device)
            for i in range(x.size(0)):
                y = y + x[i] + torch.arange(2, device=x.device)
            return y
    """).f
    return function(ramp(device, 3, 2)), function(ramp(device, 4, 2))


class Scaled(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.nn.Linear(3, 2, bias=False)
        torch.nn.init.ones_(self.inner.weight)

    def forward(self, n: int):
        return self.inner.weight * n + torch.ones(3, device=self.inner.weight.device)


@program
def scripted_module(device: str) -> Any:
    module = torch.jit.script(Scaled()).to(device)
    file = io.BytesIO()
    torch.jit.save(module, file)
    file.seek(0)
    loaded = torch.jit.load(file, map_location=device)
    return module(2), loaded(3), next(loaded.parameters())


@program
def symbolically_traced(device: str) -> Any:
    module = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.Flatten(), torch.nn.ReLU()).to(device))
    return module(ramp(device, 2, 2, 2)), module.code


@program
def exported(device: str) -> Any:
    module = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.BatchNorm1d(4, affine=False).eval()).to(device)
    return torch.export.export(module, (ramp(device, 2, 2, 2),)).module()(ramp(device, 2, 2, 2))


@program
def faked(device: str) -> Any:
    from torch._subclasses import FakeTensorMode  # noqa: PLC0415

    mode = FakeTensorMode()
    x = mode.from_tensor(ramp(device, 2, 3))
    with mode:
        y = torch.ones(3, 2, device=device) @ x
    return y.device.type == device, y.shape


def rounded_up(x: torch.Tensor) -> torch.Tensor:
    whole = x.to(torch.int64).reshape(-1)
    return (whole + torch.ones_like(whole)).to(torch.float32).reshape(x.shape)


rounded = torch.library.custom_op(
    "syncscan_test::rounded", rounded_up, mutates_args=(), schema="(Tensor x) -> Tensor"
)


@program
def without_autograd(device: str) -> Any:
    x, aten = ramp(device, 2, 2).T, torch.ops.aten
    with torch.inference_mode():
        made = aten.to.dtype(x, torch.float64), aten.reshape(x, [4]), aten.nanquantile.scalar(x, 0.5)
        probabilities, targets = torch.zeros(5, 2, 3, device=device), torch.ones(2, 3, device=device).long()
        loss = torch.nn.functional.ctc_loss(
            probabilities, targets, torch.tensor([5, 5]), torch.tensor([2, 2])
        )
    return rounded(x), [tensor.clone() for tensor in made], loss.clone()


@program
def composite_without_autograd(device: str) -> Any:
    """Torch has a second version of some operations, in Python, which raises other errors."""
    x = ramp(device, 2)
    with torch.inference_mode(), pytest.raises(RuntimeError, match="need to be at least 1D"):
        torch.ops.aten.matmul(x[0], x)
    return x


@program
def moved_by_aten(device: str) -> Any:
    x = ramp(device, 2)
    to = torch.ops.aten.to.dtype_layout
    away = to(x, device=torch.device("cpu"))
    return x, Host(away), to(away, device=torch.device(device)), Host(torch.as_tensor(x, device="cpu"))


@program
def made_where_no_mode_sees_it(device: str) -> Any:
    return [part.contiguous() for part in torch.unravel_index(ramp(device, 4).long() - 1, (3, 2))]


@program
def faked_numbers(device: str) -> Any:
    from torch._subclasses import FakeTensorMode  # noqa: PLC0415

    torch.unravel_index(torch.tensor([0], device=device), (1,))  # after which torch takes CUDA for started
    with torch.device(device), FakeTensorMode():
        made = torch.tensor(()), torch.tensor([1.0]) * torch.tensor(2.0), torch.ones(2).sum()
    return [(tensor.device.type == device, tensor.shape) for tensor in made]


# copies and files


@program
def copies(device: str) -> Any:
    x = ramp(device, 4)
    whole, part = copy.deepcopy([x, x[1:]])
    part.zero_()
    generator = pickle.loads(pickle.dumps(torch.Generator(device).manual_seed(3)))
    drawn = torch.rand(2, device=device, generator=generator)
    return whole, part, pickle.loads(pickle.dumps(torch.nn.Parameter(x))), drawn, generator.device.type


@program
def sparse_files(device: str) -> Any:
    x = ramp(device, 2, 2).to_sparse()
    file = io.BytesIO()
    torch.save(x, file)
    file.seek(0)
    with torch.sparse.check_sparse_tensor_invariants(True):  # torch 2.11 warns where nobody says
        loaded = torch.load(file, weights_only=True)
        return loaded.to_dense(), copy.deepcopy(x).values(), pickle.loads(pickle.dumps(x)).indices()


@program
def data_parallel(device: str) -> Any:
    module = torch.nn.ReLU()
    parallel = torch.nn.DataParallel(module) if device == "cuda" else module
    return parallel(ramp(device, 4, 2))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_what_it_gives_on_the_cpu(name: str) -> None:
    check_program(PROGRAMS[name])


def aot(x: torch.Tensor) -> Any:
    from torch._functorch.aot_autograd import aot_function  # noqa: PLC0415

    return aot_function(lambda y: y * 2, lambda graph, inputs: graph)(x)


def dynamo(x: torch.Tensor) -> Any:
    return torch._dynamo.optimize("eager")(lambda y: y + 1)(x)


def recorded(x: torch.Tensor) -> Any:
    from torch.fx.experimental.proxy_tensor import make_fx  # noqa: PLC0415

    return make_fx(lambda y: y + torch.ones(3, device="cuda"))(x)


def capsule(x: torch.Tensor) -> Any:
    return torch.utils.dlpack.to_dlpack(x)


REFUSED: dict[str, tuple[str, Callable[[torch.Tensor], Any]]] = {
    "strict export": ("strict=True", lambda x: torch.export.export(torch.nn.ReLU(), (x,), strict=True)),
    "dynamo": ("torch._dynamo", dynamo),
    "make_fx": ("make_fx", recorded),
    "capsule": ("to_dlpack", capsule),
    "torch.cuda": ("current_blas_handle", lambda x: torch.cuda.current_blas_handle()),
}
GRADIENTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "export": lambda x: torch.export.export(torch.nn.Linear(3, 2).cuda(), (x,)).module()(x),
    "aot": lambda x: aot(x.requires_grad_()),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_simulated_is_named(name: str) -> None:
    text, call = REFUSED[name]
    with simulated_cuda(), pytest.raises(SimulationError, match=text):
        call(torch.ones(2, 3, device="cuda"))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", GRADIENTS)
def test_a_graph_with_gradients_is_captured_where_torch_was_built_for_cuda(name: str) -> None:
    """Elsewhere the autograd of torch would end the process."""
    with simulated_cuda():
        x = torch.ones(2, 3, device="cuda")
        if torch._C._has_cuda:
            assert GRADIENTS[name](x).is_cuda
        else:
            with pytest.raises(SimulationError, match="capturing a graph with gradients"):
                GRADIENTS[name](x)


@pytest.mark.filterwarnings("ignore")
def test_no_context_is_started_of_a_device_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """As torch 2.11 starts one below all modes, for tensors that are faked, on whichever GPU it is told there is."""

    def start(device: torch.device) -> None:
        if torch.cuda.is_available():
            torch.empty(1, device=device)

    monkeypatch.setattr("torch._subclasses.fake_tensor.init_gpu_context", start)
    with simulated_cuda():
        assert PROGRAMS["exported"]("cuda").is_cuda


@pytest.mark.skipif(torch._C._has_cuda, reason="torch has what it was built with")
def test_what_torch_was_built_without_is_named() -> None:
    with simulated_cuda():
        assert not hasattr(torch._C, "_cuda_getCurrentBlasHandle")
        with pytest.raises(SimulationError, match="_cuda_getCurrentBlasHandle"):
            torch._C._cuda_getCurrentBlasHandle()

"""Triton: kernels are launched and not run. A stand-in of the parts of Triton that are replaced, as it has no wheel without CUDA."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from syncscan.simulate.context import Kernels, simulated_cuda
from syncscan.simulate.inside import figures

_TRITON = {
    "__init__": "",
    "runtime/__init__": "",
    "runtime/jit": """\
class Parameter:
    def __init__(self, name, default=None):
        self.name, self.default, self.has_default = name, default, default is not None

class JITFunction:
    def __init__(self, name, params, fn=None):
        self.__name__, self.params, self.arg_names = name, params, [p.name for p in params]
        self.fn = fn or self._unnamed

    def _unnamed(self):
        pass

    def __call__(self, *args):
        raise RuntimeError("Cannot call outside of the scope of a kernel")

    def run(self, *args, grid, warmup, **kwargs):
        raise RuntimeError("0 active drivers")

    def __getitem__(self, grid):
        return lambda *args, **kwargs: self.run(*args, grid=grid, warmup=False, **kwargs)
""",
    "runtime/autotuner": """\
class Autotuner:
    def __init__(self, fn, configs):
        self.fn, self.configs = fn, configs

    def _bench(self, *args, config, **meta):
        raise RuntimeError("0 active drivers")

    def run(self, *args, **kwargs):
        timings = {index: self._bench(*args, config=config) for index, config in enumerate(self.configs)}
        return self.fn.run(*args, **kwargs, **self.configs[min(timings, key=timings.get)])
""",
    "runtime/interpreter": """\
from triton import language

class InterpreterError(Exception):
    pass

copied = []
replaced = []

class Scope:
    patches = False

    def restore(self):
        if self.patches:
            language.maximum = language.for_the_gpu

def _patch_lang_tensor(tensor, scope):
    tensor.__index__ = lambda self: int(self.handle.data)

def _patch_lang(fn):
    replaced.append(fn)
    scope = Scope()
    _patch_lang_tensor(language.tensor, scope)
    if "language" in fn.__globals__:
        scope.patches, language.maximum = True, max
    return scope

class GridExecutor:
    def __init__(self, fn, grid):
        self.fn, self.grid = fn, grid

    def _init_args_hst(self, args, kwargs):
        return [arg.cpu() for arg in args], kwargs

    def _restore_args_dev(self, args, args_host, kwargs, kwargs_host):
        for arg, host in zip(args, args_host):
            copied.append(host)
            arg.untyped_storage().copy_(host.untyped_storage())

    def __call__(self, *args, **kwargs):
        args_host, kwargs_host = self._init_args_hst(args, kwargs)
        scope = _patch_lang(self.fn)
        try:
            for _ in range(self.grid[0]):
                self.fn(*args_host, **kwargs_host)
        except Exception as error:
            raise InterpreterError(repr(error)) from error
        finally:
            scope.restore()
        self._restore_args_dev(args, args_host, kwargs, kwargs_host)

class InterpretedFunction:
    def __init__(self, fn):
        self.fn = fn

    def run(self, *args, grid, warmup, **kwargs):
        return GridExecutor(self.rewrite(), grid)(*args, **kwargs)

    def rewrite(self):
        return self.fn
""",
    "language": """\
def for_the_gpu(*args):
    raise ValueError("Did you forget to add @triton.jit?")

maximum = for_the_gpu

from triton.runtime.jit import JITFunction, Parameter

class tensor:
    def __init__(self, data):
        self.data = data

    total = JITFunction("total", [Parameter("self")], lambda self: self.data.sum())
""",
    "runtime/driver": """\
class DriverConfig:
    def __init__(self):
        self._default = self._active = None

    @property
    def active(self):
        if self._active is None:
            raise RuntimeError("0 active drivers")
        return self._active

driver = DriverConfig()
""",
    "backends/__init__": "",
    "backends/compiler": """\
from collections import namedtuple

GPUTarget = namedtuple("GPUTarget", "backend arch warp_size")
""",
}


@pytest.fixture
def triton(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """How to import its modules; Triton itself, where it is there, waits aside."""
    for name in _imported():
        monkeypatch.delitem(sys.modules, name)
    for name, source in _TRITON.items():
        path = tmp_path / "triton" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield lambda name: importlib.import_module(f"triton.runtime.{name}")
    for name in _imported():
        del sys.modules[name]


def _imported() -> list[str]:
    return [name for name in sys.modules if name.split(".")[0] == "triton"]


@pytest.mark.parametrize("when", ["before", "while"])
def test_a_launch_calls_the_grid_with_the_arguments_and_runs_nothing(triton: Any, when: str) -> None:
    if when == "before":
        triton("jit")
    with simulated_cuda() as waits:
        jit = triton("jit")
        kernel = jit.JITFunction("add", [jit.Parameter("x"), jit.Parameter("n"), jit.Parameter("BLOCK", 64)])
        asked: list[dict[str, Any]] = []
        x = torch.ones(4, device="cuda")
        kernel[lambda meta: asked.append(meta) or (1,)](x, 4, num_warps=8)  # type: ignore[func-returns-value]
        assert [{**meta, "x": None} for meta in asked] == [{"x": None, "n": 4, "BLOCK": 64, "num_warps": 8}]
        compiled = kernel[(1,)](x, 4)
        assert (compiled.metadata.shared, compiled.shared, compiled.n_regs, compiled.n_spills) == (0, 0, 0, 0)
        assert compiled.metadata.num_warps == compiled.num_warps == 4
        assert compiled[(1,)](x, 4) is None
        assert not waits
        kernel[lambda meta: (int(meta["x"].sum()),)](x, 4)
        assert [wait.api for wait in waits] == ["torch.Tensor.__int__"]
    with pytest.raises(RuntimeError, match="0 active drivers"):
        kernel[(1,)](x, 4)


def test_a_tuner_takes_the_first_configuration(triton: Any) -> None:
    with simulated_cuda():
        jit, tuner = triton("jit"), triton("autotuner")
        kernel = jit.JITFunction("add", [jit.Parameter("x"), jit.Parameter("BLOCK")])
        blocks: list[int] = []
        tuned = tuner.Autotuner(kernel, [{"BLOCK": 32}, {"BLOCK": 64}])
        tuned.run(1, grid=lambda meta: blocks.append(meta["BLOCK"]), warmup=False)
    assert blocks == [32]


def test_the_interpreter_runs_a_kernel_without_a_wait_and_a_graph_runs_it_again(triton: Any) -> None:
    with simulated_cuda() as waits:
        launch = triton("interpreter").GridExecutor(lambda x, by: x.mul_(by), (1,))
        x = torch.ones(2, device="cuda")
        launch(x, by=3)
        assert (x.is_cuda, waits) == (True, [])
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            launch(x, by=2)
        x.fill_(5)
        graph.replay()
        assert x.tolist() == [10, 10]


def test_the_interpreter_copies_no_operand(triton: Any) -> None:
    with simulated_cuda():
        interpreter = triton("interpreter")
        cache = torch.ones(4, device="cuda")
        interpreter.GridExecutor(lambda x: x[:1].zero_(), (1,))(cache)
        assert (cache.tolist(), interpreter.copied) == ([0, 1, 1, 1], [])


_greater: Any = max  # what the kernel calls


def _accept(out: torch.Tensor, at_least: int) -> None:
    out += 1
    out[0] = _greater(out[0], at_least)


_OF_A_LIBRARY = {f"{__name__}._accept": {"interpret": True}}


def test_a_kernel_that_is_declared_so_is_interpreted_with_what_it_calls(
    triton: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with simulated_cuda(operations=_OF_A_LIBRARY) as waits:
        jit = triton("jit")
        language = importlib.import_module("triton.language")

        space: dict[str, Any] = {"language": language}
        exec("def greater(left, right):\n    return language.maximum(int(left), right)", space)
        device_function = jit.JITFunction("greater", [], space["greater"])
        monkeypatch.setitem(globals(), "_greater", device_function)
        parameters = [jit.Parameter("out"), jit.Parameter("at_least")]
        kernel = jit.JITFunction("_accept", parameters, _accept)
        out = torch.zeros(2, dtype=torch.int32, device="cuda")
        kernel[lambda meta: (meta["at_least"],)](out, 3)
        assert (out.is_cuda, out.tolist()) == (True, [5, 3])
        assert [wait.api for wait in waits] == ["torch.Tensor.tolist"]
        with pytest.raises(RuntimeError, match="outside of the scope of a kernel"):
            device_function(1, 2)
        assert language.maximum is language.for_the_gpu


def test_a_launch_replaces_the_language_once_however_often_it_calls(triton: Any) -> None:
    with simulated_cuda(kernels="interpret"):
        jit = triton("jit")
        space: dict[str, Any] = {"language": importlib.import_module("triton.language")}
        exec("def greater(left, right):\n    return language.maximum(int(left), right)", space)
        greater = jit.JITFunction("greater", [], space["greater"])

        def least(out: torch.Tensor) -> None:
            for at in range(len(out)):
                out[at] = greater(out[at], at)

        out = torch.zeros(9, dtype=torch.int32, device="cuda")
        jit.JITFunction("least", [], least)[(4,)](out)
        assert out.tolist() == list(range(9))
        assert triton("interpreter").replaced == [least, space["greater"]]  # of two modules


def _totals(out: torch.Tensor, x: torch.Tensor) -> None:
    out += importlib.import_module("triton.language").tensor(x).total()


def test_a_method_of_tensors_that_is_a_kernel_itself_is_interpreted_too(triton: Any) -> None:
    with simulated_cuda(operations={f"{__name__}._totals": {"interpret": True}}) as waits:
        jit = triton("jit")
        out, x = torch.zeros((), device="cuda"), torch.ones(4, device="cuda")
        jit.JITFunction("_totals", [jit.Parameter("out"), jit.Parameter("x")], _totals)[(1,)](out, x)
        assert not waits
        assert out.item() == 4
    with pytest.raises(RuntimeError, match="outside of the scope of a kernel"):
        importlib.import_module("triton.language").tensor.total(x)


def test_a_kernel_that_is_not_declared_is_not_interpreted(triton: Any) -> None:
    with simulated_cuda(operations={f"{__name__}._other": {"interpret": True}}):
        jit = triton("jit")
        out = torch.zeros(2, dtype=torch.int32, device="cuda")
        jit.JITFunction("_accept", [], _accept)[(1,)](out, 3)
        assert out.tolist() == [0, 0]


def _stores(x: torch.Tensor, out: torch.Tensor, tl: Any) -> None:
    tl.store(out + 1, tl.load(x))


def test_what_a_launch_would_write_was_not_computed(triton: Any) -> None:
    with simulated_cuda() as waits:
        jit = triton("jit")
        kernel = jit.JITFunction("_stores", [], _stores)
        x, out = torch.ones(4, device="cuda"), torch.ones(4, device="cuda")
        kernel[(1,)](x, out)
        x.tolist()
        out.tolist()
    assert [wait.uncomputed for wait in waits] == [False, True]


def test_what_is_interpreted_from_what_was_not_computed_was_not_either(triton: Any) -> None:
    def copies(x: torch.Tensor, out: torch.Tensor, tl: Any = None) -> None:
        if tl is not None:
            tl.store(out, x)
        out.copy_(x)

    with simulated_cuda() as waits:
        interpreter, jit = triton("interpreter"), triton("jit")
        x, lost, out = (torch.ones(4, device="cuda") for _ in range(3))
        jit.JITFunction("_stores", [], _stores)[(1,)](x, lost)
        interpreter.GridExecutor(copies, (1,))(x, out)
        out.tolist()
        interpreter.GridExecutor(copies, (1,))(lost, out)
        out.tolist()
    assert [wait.uncomputed for wait in waits] == [False, True]


def _counts(x: torch.Tensor, out: torch.Tensor, tl: Any = None) -> None:
    if tl is not None:
        tl.store(out, x)  # what its source says, as that of a kernel
    out.fill_(int((x > 0).sum()))


@pytest.mark.parametrize(
    ("kernels", "dtype", "programs", "runs"),
    [
        ("auto", torch.int32, 1, True),
        ("auto", torch.bool, 2, True),
        ("auto", torch.int32, 4096, False),  # too slow
        ("auto", torch.float32, 1, False),
        ("auto", torch.uint8, 1, False),
        ("zeros", torch.int32, 1, False),
        ("interpret", torch.float32, 4096, True),
    ],
)
def test_a_kernel_by_which_the_program_decides_is_interpreted(
    triton: Any, kernels: Kernels, dtype: torch.dtype, programs: int, runs: bool
) -> None:
    with simulated_cuda(kernels=kernels) as waits:
        kernel = triton("jit").JITFunction("_counts", [], _counts)
        x, out = torch.ones(1, device="cuda"), torch.zeros(2, dtype=dtype, device="cuda")
        kernel[(programs,)](x, out)
        assert out.tolist() == [runs, runs]
    assert [(wait.api, wait.uncomputed) for wait in waits] == [("torch.Tensor.tolist", not runs)]


def test_a_kernel_is_interpreted_once_the_host_has_read_what_it_writes(triton: Any) -> None:
    with simulated_cuda() as waits:
        kernel = triton("jit").JITFunction("_counts", [], _counts)
        x, out = torch.ones(4, device="cuda"), torch.zeros(1, device="cuda")
        kernel[(1,)](x, out)
        (out * 2).tolist()  # of what was made of it, the kernel may have no part
        kernel[(1,)](x, out)
        assert out.tolist() == [0]
        kernel[(1,)](x, out)
        assert out.tolist() == [4]
    assert [wait.uncomputed for wait in waits] == [True, True, False]


def test_a_kernel_that_cannot_be_interpreted_is_tried_once(triton: Any) -> None:
    tried: list[int] = []

    def unknown(x: torch.Tensor, out: torch.Tensor, tl: Any = None) -> None:
        tried.append(1)
        tl.store(out, x)

    with simulated_cuda() as waits:
        kernel = triton("jit").JITFunction("unknown", [], unknown)
        x, out = torch.ones(4, device="cuda"), torch.zeros(4, dtype=torch.int32, device="cuda")
        for _ in range(3):
            kernel[(1,)](x, out)
        out.tolist()
    assert (len(tried), [wait.uncomputed for wait in waits]) == (1, [True])


def test_a_graph_interprets_again_what_it_captured(triton: Any) -> None:
    with simulated_cuda(operations=_OF_A_LIBRARY):
        jit = triton("jit")
        out, graph = torch.zeros(2, device="cuda"), torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            jit.JITFunction("_accept", [], _accept)[(1,)](out, 0)
        out.fill_(7)
        graph.replay()
        assert out.tolist() == [8, 8]


def test_a_scalar_that_the_interpreter_holds_as_an_array_bounds_a_loop(triton: Any) -> None:
    """NumPy 2.4 makes a number of an array without dimensions alone; Triton 3.6 keeps each scalar in one of length 1."""
    language = importlib.import_module("triton.language")

    def adds(out: torch.Tensor) -> None:
        scalar = language.tensor(None)
        scalar.handle = SimpleNamespace(data=np.array([3]))
        for _ in range(scalar):
            out.add_(1)

    with simulated_cuda(kernels="interpret"):
        out = torch.zeros(1, dtype=torch.int32, device="cuda")
        triton("jit").JITFunction("adds", [], adds)[(1,)](out)
        assert out.tolist() == [3]


def test_what_the_interpreter_cannot_run_is_not_computed(triton: Any) -> None:
    def unknown(x: torch.Tensor, by: int) -> None:
        raise AttributeError("to")

    with simulated_cuda():
        x = torch.ones(2, device="cuda")
        triton("interpreter").GridExecutor(unknown, (1,))(x, by=3)
        assert x.tolist() == [1, 1]


def test_the_driver_names_the_simulated_device(triton: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with simulated_cuda(devices=2):
        driver = triton("driver").driver.active
        torch.cuda.set_device(1)
        assert (driver.get_current_device(), driver.get_active_torch_device()) == (1, torch.device("cuda", 1))
        properties = driver.utils.get_device_properties(1)
        assert properties["multiprocessor_count"] == torch.cuda.get_device_properties(1).multi_processor_count
        assert [properties[name] for name in ("warpSize", "max_shared_mem")] == [32, 232448]
        driver.set_current_device(0)
        assert torch.cuda.current_device() == 0
        assert driver.get_device_capability() == driver.get_device_capability(1) == (9, 0)
        assert driver.get_current_target() == ("cuda", 90, 32)
        with monkeypatch.context() as other:
            other.setattr(figures, "CAPABILITY", (8, 6))
            assert driver.get_current_target() == ("cuda", 86, 32)
        cache = driver.get_empty_cache_for_benchmark()
        assert (cache.is_cuda, cache.numel(), driver.clear_cache(cache)) == (True, 0, None)
        with torch.cuda.stream(torch.cuda.Stream()):
            assert driver.get_current_stream(0) == torch.cuda.current_stream().cuda_stream != 0
            assert driver.get_current_stream(1) == torch.cuda.default_stream(1).cuda_stream
        assert driver.get_device_interface() is torch.cuda
        assert driver.get_benchmarker()(lambda: 1 / 0, quantiles=(0.5, 0.2, 0.8)) == [0.0] * 3
        assert driver.get_benchmarker()(lambda: 1 / 0) == 0.0
    with pytest.raises(RuntimeError, match="0 active drivers"):
        _ = triton("driver").driver.active
    assert not [finder for finder in sys.meta_path if type(finder).__name__ == "ImportWatch"]

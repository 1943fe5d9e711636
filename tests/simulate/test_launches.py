"""Triton: kernels are launched and not run. A stand-in of the parts of Triton that are replaced, as it has no wheel without CUDA."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from syncscan.simulate.context import simulated_cuda

_TRITON = {
    "__init__": "",
    "runtime/__init__": "",
    "runtime/jit": """\
class Parameter:
    def __init__(self, name, default=None):
        self.name, self.default, self.has_default = name, default, default is not None

class JITFunction:
    def __init__(self, name, params):
        self.__name__, self.params, self.arg_names = name, params, [p.name for p in params]

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
class InterpreterError(Exception):
    pass

class GridExecutor:
    def __init__(self, fn):
        self.fn = fn

    def __call__(self, x, *, by):
        copy = x.cpu()
        try:
            self.fn(copy, by)
        except Exception as error:
            raise InterpreterError(repr(error)) from error
        x.untyped_storage().copy_(copy.untyped_storage())
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
}


@pytest.fixture
def triton(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """How to import its modules."""
    if importlib.util.find_spec("triton") is not None:
        pytest.skip("Triton itself is there")
    for name, source in _TRITON.items():
        path = tmp_path / "triton" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield lambda name: importlib.import_module(f"triton.runtime.{name}")
    for name in [name for name in sys.modules if name.split(".")[0] == "triton"]:
        del sys.modules[name]


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
        kernel[(1,)](x, 4)
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
        launch = triton("interpreter").GridExecutor(lambda x, by: x.mul_(by))
        x = torch.ones(2, device="cuda")
        launch(x, by=3)
        assert (x.is_cuda, waits) == (True, [])
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            launch(x, by=2)
        x.fill_(5)
        graph.replay()
        assert x.tolist() == [10, 10]


def test_what_the_interpreter_cannot_run_is_not_computed(triton: Any) -> None:
    def unknown(x: torch.Tensor, by: int) -> None:
        raise AttributeError("to")

    with simulated_cuda():
        x = torch.ones(2, device="cuda")
        triton("interpreter").GridExecutor(unknown)(x, by=3)
        assert x.tolist() == [1, 1]


def test_the_driver_names_the_simulated_device(triton: Any) -> None:
    with simulated_cuda(devices=2):
        driver = triton("driver").driver.active
        torch.cuda.set_device(1)
        assert (driver.get_current_device(), driver.get_active_torch_device()) == (1, torch.device("cuda", 1))
        properties = driver.utils.get_device_properties(1)
        assert properties["multiprocessor_count"] == torch.cuda.get_device_properties(1).multi_processor_count
        driver.set_current_device(0)
        assert torch.cuda.current_device() == 0
        assert driver.get_device_interface() is torch.cuda
        assert driver.get_benchmarker()(lambda: 1 / 0, quantiles=(0.5, 0.2, 0.8)) == [0.0] * 3
    with pytest.raises(RuntimeError, match="0 active drivers"):
        _ = triton("driver").driver.active
    assert not [finder for finder in sys.meta_path if type(finder).__name__ == "ImportWatch"]

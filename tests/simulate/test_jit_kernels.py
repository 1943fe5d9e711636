"""Kernels of tvm-ffi and of the CuTe DSL are launched and not run. Stand-ins of the parts of both that are replaced."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from syncscan.simulate.context import simulated_cuda
from syncscan.simulate.inside import simulation

_LIBRARIES = {
    "tvm_ffi/__init__": """\
class Module:
    def __init__(self, path):
        self.path = path

    def get_function(self, name, query_imports=False):
        if name != "plan":
            raise AttributeError(name)
        return lambda *args: (self.path, args)

def load_module(path, keep_module_alive=True):
    return Module(path)
""",
    "tvm_ffi/cpp": """\
def load(name, *, cpp_files=None, cuda_files=None):
    return (name, "compiled")

def load_inline(name, *, cpp_sources=None, cuda_sources=None):
    return (name, "compiled")
""",
    "flashinfer/__init__": "",
    "flashinfer/jit/__init__": "",
    "flashinfer/jit/core": """\
import tvm_ffi

class JitSpec:
    def build(self, verbose, need_lock=True):
        raise RuntimeError("Ninja build failed")

    def build_and_load(self):
        self.build(False, need_lock=False)
        return tvm_ffi.load_module("/nowhere/norm.so")
""",
    "cutlass/__init__": "",
    "cutlass/base_dsl/__init__": "",
    "cutlass/base_dsl/dsl": """\
class BaseDSL:
    def _func(self, funcBody, *args, **kwargs):
        raise RuntimeError("no GPU to compile for")

class CuTeDSL(BaseDSL):
    pass
""",
}


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """How to import their modules."""
    roots = {name.partition("/")[0] for name in _LIBRARIES}
    if any(importlib.util.find_spec(root) for root in roots):
        pytest.skip("one of them is there itself")
    for name, source in _LIBRARIES.items():
        path = tmp_path / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module
    for name in [name for name in sys.modules if name.split(".")[0] in roots]:
        del sys.modules[name]


@pytest.mark.parametrize("when", ["before", "while"])
def test_a_module_that_is_not_built_is_launched(library: Any, when: str) -> None:
    if when == "before":
        library("flashinfer.jit.core")
    with simulated_cuda() as waits:
        module = library("flashinfer.jit.core").JitSpec().build_and_load()
        x, lengths = torch.ones(2, device="cuda"), torch.tensor([3], device="cuda")
        out, ids = torch.empty(2, device="cuda"), torch.empty(2, dtype=torch.int32, device="cuda")
        waits.clear()
        assert module.rmsnorm(out, x, lengths, ids, 1e-5) == ()
        assert module["rmsnorm"](out, x, lengths, ids, 1e-5) == ()
        assert not waits
        assert (out.tolist(), ids.tolist(), lengths.tolist()) == ([0, 0], [0, 0], [3])
    assert [wait.uncomputed for wait in waits] == [True, True, False]
    with pytest.raises(RuntimeError, match="Ninja build failed"):
        library("flashinfer.jit.core").JitSpec().build_and_load()


def test_a_module_that_is_built_runs_for_the_host(library: Any, tmp_path: Path) -> None:
    built = tmp_path / "decode.so"
    built.touch()
    with simulated_cuda():
        module = library("tvm_ffi").load_module(str(built), keep_module_alive=False)
        lengths = torch.tensor([3])
        assert module.plan(lengths, 4) == (str(built), (lengths, 4))
        assert module.plan(lengths.cuda(), 4) is not None
        assert not hasattr(module, "another")


def test_sources_for_the_gpu_are_not_compiled_and_those_for_the_host_are(library: Any) -> None:
    with simulated_cuda():
        cpp = library("tvm_ffi.cpp")
        x = torch.ones(2, device="cuda")
        assert cpp.load("add", cuda_files=["add.cu"]).add(x) == ()
        assert cpp.load_inline("add", cpp_sources="int", cuda_sources=["add"]).add(x) == ()
        assert cpp.load("add", cpp_files=["add.cc"]) == ("add", "compiled")
        assert cpp.load_inline("add", cpp_sources=["int"]) == ("add", "compiled")


def test_a_kernel_of_the_cute_dsl_is_launched_compiled_before_or_not(library: Any) -> None:
    class Norm:
        def __call__(self, x: Any) -> None:
            raise AssertionError

    with simulated_cuda() as waits:
        dsl = library("cutlass.base_dsl.dsl").CuTeDSL()
        x, rows = torch.ones(2, device="cuda"), torch.tensor([2], device="cuda")
        compiled = dsl._func(Norm.__call__, Norm(), "x", compile_only=True, no_cache=True)
        waits.clear()
        assert compiled(x, rows, 2, stream=0) == ()
        assert compiled.to(0)(x, rows, 2) == ()
        assert dsl._func(Norm.__call__, Norm(), x) == ()
        assert not waits
        rows.tolist()
        x.tolist()
    assert [wait.uncomputed for wait in waits] == [False, True]


def test_what_was_launched_is_counted_with_each_replay_of_a_graph(library: Any) -> None:
    class Norm:
        def __call__(self, x: Any) -> None:
            raise AssertionError

    with simulated_cuda():
        x, graph = torch.ones(2, device="cuda"), torch.cuda.CUDAGraph()
        kernel = library("cutlass.base_dsl.dsl").CuTeDSL()._func(Norm.__call__, compile_only=True)
        with torch.cuda.graph(graph):
            kernel(x)
            library("tvm_ffi").load_module("/nowhere/norm.so").rmsnorm(x)
        graph.replay()
        graph.replay()
        assert simulation.current is not None
        assert simulation.current.uncomputed.counts == {
            "the CuTe kernel Norm": 3,
            "the compiled kernel norm.rmsnorm": 3,
        }

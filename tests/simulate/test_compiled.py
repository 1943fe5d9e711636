"""``torch.compile``: the function runs as it is written, and which waits would break its graph is told."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from syncscan.simulate.context import simulated_cuda  # noqa: E402
from syncscan.simulate.inside.errors import SimulationError  # noqa: E402

READS = {
    "item": lambda x: x.sum().item(),
    "branch": lambda x: 1 if x.sum() > 0 else 2,
    "list": lambda x: x.tolist(),
    "comparison": lambda x: torch.equal(x, x + 1),
    "mask": lambda x: x[x > 0],
    "nonzero": lambda x: x.nonzero(),
}
COPIES = {
    "download": lambda x: x.cpu(),
    "upload": lambda x: x + torch.tensor([1.0, 2.0, 3.0], device=x.device),
    "list as index": lambda x: x[[0, 1]],
    "error check": lambda x: torch.linalg.inv(x.new_ones(1, 1)),
}


def broken(waits: list[Any]) -> list[bool]:
    return [wait.breaks_graph for wait in waits]


@pytest.mark.parametrize("what", READS)
def test_a_number_or_a_shape_that_the_host_needs_breaks_the_graph(what: str) -> None:
    with simulated_cuda() as waits:
        x = torch.ones(3, device="cuda")
        torch.compile(READS[what])(x)
        READS[what](x)
    assert broken(waits) == [True, False]


@pytest.mark.parametrize("what", COPIES)
def test_a_copy_waits_and_breaks_no_graph(what: str) -> None:
    with simulated_cuda() as waits:
        torch.compile(COPIES[what])(torch.ones(3, device="cuda"))
    assert broken(waits) == [False]


@pytest.mark.parametrize("what", [*READS, *COPIES])
def test_the_compiler_breaks_its_graph_there_too(what: str) -> None:
    dynamo = pytest.importorskip("torch._dynamo")
    with_both = {**READS, **COPIES}[what]
    explained = dynamo.explain(lambda x: (x + 1, with_both(x + 1), x + 2))(torch.ones(3))
    assert bool(explained.graph_break_count) is (what in READS)


def test_what_the_compiler_was_told_to_capture_breaks_no_graph() -> None:
    config = pytest.importorskip("torch._dynamo.config")
    captured = config.patch(capture_scalar_outputs=True, capture_dynamic_output_shape_ops=True)
    with captured, simulated_cuda() as waits:
        for what in ("item", "branch", "mask"):
            torch.compile(READS[what])(torch.ones(3, device="cuda"))
    assert broken(waits) == [False, True, False]


def test_what_a_compiled_function_calls_is_in_its_graph_but_for_what_is_disabled() -> None:
    with simulated_cuda() as waits:
        x = torch.ones(3, device="cuda")
        inner = torch.compiler.disable(READS["item"])
        compiled = torch.compile(lambda x: (inner(x), READS["item"](x)))
        compiled(x)
        with pytest.raises(ZeroDivisionError):
            torch.compile(lambda x: 1 / 0)(x)
        READS["item"](x)
    assert broken(waits) == [False, True, False]


def test_an_operation_of_the_program_is_one_node_of_the_graph() -> None:
    @torch.library.custom_op("syncscan_compiled::count", mutates_args=())
    def count(x: torch.Tensor) -> torch.Tensor:
        return x + x.sum().item()

    library = torch.library.Library("syncscan_compiled_too", "DEF")
    library.define("count(Tensor x) -> Tensor")
    with simulated_cuda() as waits:
        library.impl("count", lambda x: x + x.sum().item(), "CUDA")
        for operation in (count, torch.ops.syncscan_compiled_too.count):
            torch.compile(lambda x: operation(x).sum().item())(torch.ones(3, device="cuda"))  # noqa: B023
    assert broken(waits) == [False, True] * 2


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)

    def forward(self, x: torch.Tensor) -> Any:
        return self.layer(x).item()


def test_a_compiled_module_is_the_wrapper_that_torch_makes() -> None:
    with simulated_cuda() as waits:
        model = Model().cuda()
        waits.clear()
        compiled = torch.compile(model)
        assert (compiled._orig_mod is model, compiled.layer is model.layer) == (True, True)
        assert list(compiled.state_dict()) == ["_orig_mod.layer.weight", "_orig_mod.layer.bias"]
        compiled(torch.ones(3, device="cuda"))
        model(torch.ones(3, device="cuda"))
        model.compile()
        model(torch.ones(3, device="cuda"))
    assert broken(waits) == [True, False, True]


def test_a_function_keeps_its_name_and_leads_to_what_was_compiled() -> None:
    with simulated_cuda():

        @torch.compile(fullgraph=True, dynamic=False)
        def plus_one(x: torch.Tensor) -> torch.Tensor:
            return x + 1

        assert plus_one.__name__ == "plus_one"
        assert plus_one._torchdynamo_orig_callable(torch.ones(1)) == 2
        assert torch.compile(print, disable=True) is print


def test_what_is_compiled_ahead_of_time_runs_and_is_not_kept(tmp_path: Path) -> None:
    class Runner:
        def forward(self, x: torch.Tensor) -> Any:
            return (self, x.sum().item())

    kept = tmp_path / "model"
    with simulated_cuda() as waits:
        x = torch.ones(3, device="cuda")
        runner = Runner()
        ahead = torch.compile(runner.forward, fullgraph=True).aot_compile(((x,), {}))
        assert ahead(runner, x) == (runner, 3.0)
        assert torch.compile(READS["item"]).aot_compile(((x,), {}))(x) == 3.0
        with pytest.raises(SimulationError, match="save_compiled_function cannot be simulated"):
            ahead.save_compiled_function(os.fspath(kept))
        if hasattr(torch.compiler, "load_compiled_function"):
            with pytest.raises(SimulationError, match="load_compiled_function cannot be simulated"):
                torch.compiler.load_compiled_function(None)
    assert broken(waits) == [True, True]
    assert not kept.exists()

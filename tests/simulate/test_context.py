"""``simulated_cuda`` begins and ends without a trace. What it replaces is compared in ``conftest.py``."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from syncscan.ops import load_table
from syncscan.simulate.context import simulated_cuda
from syncscan.simulate.export import plain_table

ROOT = Path(__file__).parent.parent.parent


def error_of(call) -> tuple[type, str]:
    with pytest.raises(Exception) as caught:  # noqa: PT011 (which one is what the tests compare)
        call()
    return caught.type, str(caught.value)


def ask_for_cuda() -> None:
    torch.zeros(3, device="cuda")


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without a GPU")
def test_torch_refuses_cuda_afterwards_as_before() -> None:
    before = error_of(ask_for_cuda)
    with simulated_cuda():
        torch.nn.Linear(2, 2).to("cuda")(torch.zeros(2, device="cuda")).sum().backward()
    assert error_of(ask_for_cuda) == before
    assert not torch.cuda.is_available()


def test_an_exception_ends_the_simulation_too() -> None:
    with pytest.raises(KeyError), simulated_cuda():
        raise KeyError
    assert torch.zeros(3).device.type == "cpu"


def test_an_exception_inside_an_operation_ends_it_too() -> None:
    with pytest.raises(RuntimeError, match="shape"), simulated_cuda():
        torch.zeros(3, device="cuda").reshape(2, 2)


def test_tensors_outlive_the_simulation_as_cpu_tensors() -> None:
    with simulated_cuda():
        tensor = torch.ones(3, device="cuda")
    assert tensor.device.type == "cpu"
    assert (tensor + 1).tolist() == [2, 2, 2]


def test_a_block_inside_another_joins_it() -> None:
    with simulated_cuda(devices=2) as outer:
        with simulated_cuda() as inner:
            assert torch.cuda.device_count() == 2
            torch.ones(3, device="cuda:1").tolist()
        torch.ones(3, device="cuda").tolist()
    assert (len(inner), len(outer)) == (1, 2)


def test_two_devices_are_two() -> None:
    with simulated_cuda(devices=2):
        first, second = torch.ones(3, device="cuda:0"), torch.ones(3, device="cuda:1")
        assert second.to("cuda:0").device == first.device
        with torch.cuda.device(1):
            assert torch.zeros(1, device="cuda").device == second.device
        assert torch.zeros(1, device="cuda").device == first.device


@pytest.mark.parametrize("devices", [0, -1])
def test_there_is_one_device_at_least(devices: int) -> None:
    with (
        pytest.raises(ValueError, match=f"devices must be 1 or more, not {devices}"),
        simulated_cuda(devices=devices),
    ):
        pass


def test_the_table_crosses_to_a_child_as_json() -> None:
    plain = plain_table(load_table())
    assert json.loads(json.dumps(plain)) == plain


def test_the_parts_that_run_in_a_child_need_no_syncscan(tmp_path: Path) -> None:
    table = tmp_path / "table.json"
    table.write_text(json.dumps(plain_table(load_table())), encoding="utf-8")
    program = tmp_path / "program.py"
    program.write_text(
        f"""
import importlib.util, json, sys
folder = {str(ROOT / "syncscan" / "simulate" / "inside")!r}
spec = importlib.util.spec_from_file_location("_alone", folder + "/__init__.py", submodule_search_locations=[folder])
sys.modules["_alone"] = importlib.util.module_from_spec(spec)
from _alone.simulation import Simulation
seen = []
simulation = Simulation(json.load(open({str(table)!r})))
simulation.listeners.append(seen.append)
simulation.start()
import torch
torch.ones(3, device="cuda").tolist()
devices = torch.cuda.device_count()
simulation.stop()
assert not [name for name in sys.modules if name.split(".")[0] == "syncscan"]
print([sync.api for sync in seen], devices)
""",
        encoding="utf-8",
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, str(program)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
        cwd=tmp_path,
    )
    assert (done.stdout.strip(), done.returncode) == ("['torch.Tensor.tolist'] 1", 0), done.stderr


def test_measured_verdicts() -> None:
    """At least 97% of the verdicts measured on a GPU, and no other difference than the docs list."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        import simulate as benchmark  # noqa: PLC0415
    finally:
        sys.path.pop(0)
    if not (benchmark.MEASURED / "probe.py").is_file():
        pytest.skip("the measurements are not beside the project")
    differ = benchmark.agreement()
    listed = (ROOT / "docs" / "simulate.md").read_text(encoding="utf-8")
    assert [name for name, _, _ in differ or [] if f"`{name}`" not in listed] == []


def test_collectives_wait_for_the_gpu_on_a_group_of_nccl_alone():
    dist = torch.distributed
    with simulated_cuda() as waits:
        dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=1)
        dist.barrier()
        dist.barrier(dist.new_group(backend="nccl"))
        dist.barrier(dist.new_group())
        hosts = dist.new_group(backend="gloo")
        dist.barrier(hosts)
        dist.all_gather_object([None], 1, group=hosts)
        dist.destroy_process_group()
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        dist.barrier()
        dist.barrier(dist.new_group())
        dist.destroy_process_group()
    assert [wait.api for wait in waits] == ["torch.distributed.barrier"] * 3
    assert {wait.path for wait in waits} == {__file__}


def test_a_guard_subscribes_to_no_cupti_where_the_gpu_is_simulated(tmp_path):
    """It comes with builds for CUDA, and crashes without the driver that it belongs to."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("needs a C compiler for a CUPTI that crashes")
    source, library = tmp_path / "cupti.c", tmp_path / "libcupti.so"
    source.write_text("#include <stdlib.h>\nint cuptiSubscribe(void) { abort(); }\n")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
    script = f"""
import ctypes, torch, syncscan
ctypes.CDLL({str(library)!r})
with syncscan.simulated_cuda(), syncscan.count_syncs() as seen:
    torch.ones(3, device="cuda").sum().item()
print(seen.total)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("1\n", 0), done.stderr

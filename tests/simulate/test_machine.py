"""The machine around torch: the libraries of the driver, NVML's answers, and the figures of the devices."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from syncscan.simulate.context import simulated_cuda

_NO_DEVICE, _BAD_ARGUMENT, _NOT_LOADED = 100, 2, 9


def _is_installed(name: str) -> bool:
    """Asked in a process of its own: one that was loaded stays."""
    done = subprocess.run(
        [sys.executable, "-c", f"import ctypes; ctypes.CDLL({name!r})"], capture_output=True, check=False
    )
    return done.returncode == 0


pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or _is_installed("libcuda.so.1"), reason="a machine without NVIDIA's driver"
)


@pytest.fixture
def nvml() -> Iterator[ctypes.CDLL]:
    with simulated_cuda(devices=2):
        yield ctypes.CDLL("libnvidia-ml.so.1")


def test_the_driver_is_found_by_name_and_only_fails() -> None:
    with simulated_cuda():
        driver = ctypes.CDLL("libcuda.so.1")
    assert [driver.cuInit(0), driver.cuTensorMapEncodeTiled(), driver.cuGetProcAddress_v2()] == [
        _NO_DEVICE
    ] * 3
    assert not hasattr(driver, "cuNoSuchFunction")


def test_nvml_counts_the_devices_and_names_them_as_torch_does(nvml: ctypes.CDLL) -> None:
    count, handle, index = ctypes.c_uint(), ctypes.c_void_p(), ctypes.c_uint()
    assert nvml.nvmlInit_v2() == nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)) == 0
    assert count.value == torch.cuda.device_count() == torch.cuda._device_count_nvml() == 2
    assert nvml.nvmlDeviceGetHandleByIndex_v2(1, ctypes.byref(handle)) == 0
    name, uuid = ctypes.create_string_buffer(96), ctypes.create_string_buffer(96)
    assert nvml.nvmlDeviceGetName(handle, name, 96) == nvml.nvmlDeviceGetUUID(handle, uuid, 96) == 0
    properties = torch.cuda.get_device_properties(1)
    assert name.value.decode() == properties.name
    assert uuid.value.decode() == f"GPU-{properties.uuid}"
    again = ctypes.c_void_p()
    assert nvml.nvmlDeviceGetHandleByUUID(uuid, ctypes.byref(again)) == 0
    assert nvml.nvmlDeviceGetIndex(again, ctypes.byref(index)) == 0
    assert index.value == 1


def test_nvml_tells_the_memory_and_the_capability_that_torch_tells(nvml: ctypes.CDLL) -> None:
    handle, memory = ctypes.c_void_p(), (ctypes.c_ulonglong * 3)()
    nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(handle))
    assert nvml.nvmlDeviceGetMemoryInfo(handle, memory) == 0
    free, total = torch.cuda.mem_get_info()
    assert list(memory) == [total, free, 0]
    major, minor = ctypes.c_int(), ctypes.c_int()
    assert nvml.nvmlDeviceGetCudaComputeCapability(handle, ctypes.byref(major), ctypes.byref(minor)) == 0
    assert (major.value, minor.value) == torch.cuda.get_device_capability()


def test_nvml_refuses_a_device_that_is_not_there_and_cuts_text_to_its_room(nvml: ctypes.CDLL) -> None:
    handle, name = ctypes.c_void_p(), ctypes.create_string_buffer(b"x" * 8)
    assert nvml.nvmlDeviceGetHandleByIndex_v2(2, ctypes.byref(handle)) == _BAD_ARGUMENT
    assert nvml.nvmlDeviceGetName(None, name, 4) == _BAD_ARGUMENT
    nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(handle))
    assert nvml.nvmlDeviceGetName(handle, name, 4) == 0
    assert name.raw[:5] == b"Sim\0x"
    nvml.nvmlErrorString.restype = ctypes.c_char_p
    assert nvml.nvmlErrorString(_BAD_ARGUMENT) == b"Invalid Argument"


def test_nvml_has_the_gpus_that_a_process_does_not_see_too(
    nvml: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5, 2")
    count, handle = ctypes.c_uint(), ctypes.c_void_p()
    assert nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)) == 0
    assert count.value == 6
    assert nvml.nvmlDeviceGetHandleByIndex_v2(5, ctypes.byref(handle)) == 0
    assert nvml.nvmlDeviceGetName(handle, ctypes.create_string_buffer(96), 96) == 0


def test_nvml_has_no_devices_when_the_simulation_has_ended() -> None:
    with simulated_cuda():
        pass
    assert ctypes.CDLL("libnvidia-ml.so.1").nvmlInit_v2() == _NOT_LOADED


def test_nccl_is_not_there_for_those_who_load_it_themselves() -> None:
    with simulated_cuda(), pytest.raises(OSError, match=r"libnccl\.so\.2: not simulated"):
        ctypes.CDLL("/opt/lib/libnccl.so.2")


def test_what_is_loaded_needs_no_file() -> None:
    with simulated_cuda():
        ctypes.CDLL("libcuda.so.1")
    maps = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    assert {"memfd" in line for line in maps if "libcuda.so.1" in line} == {True}


def test_the_accelerator_answers_as_cuda_does() -> None:
    with simulated_cuda(devices=2):
        assert torch.accelerator.get_memory_info() == torch.cuda.mem_get_info()
        assert torch.bfloat16 in torch.accelerator.get_device_capability()["supported_dtypes"]
        stats = torch.accelerator.memory_stats()
        assert stats["allocated_bytes.all.peak"] == torch.cuda.memory_stats()["num_ooms"] == 0
        with torch.accelerator.device_index(1):
            assert torch.cuda.current_device() == torch.ones(1, device="cuda").device.index == 1
        assert torch.cuda.current_device() == 0

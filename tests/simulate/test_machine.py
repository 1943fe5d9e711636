"""The machine around torch: the libraries of the driver, NVML's answers, and the figures of the devices."""

from __future__ import annotations

import ctypes
import itertools
import platform
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from syncscan.simulate.context import simulated_cuda
from syncscan.simulate.inside.machine import elf
from syncscan.simulate.inside.machine.nvml import answers

_NO_DEVICE, _BAD_ARGUMENT, _NOT_FOUND, _NOT_LOADED = 100, 2, 6, 9


def _is_installed(name: str) -> bool:
    """Asked in a process of its own: one that was loaded stays."""
    done = subprocess.run(
        [sys.executable, "-c", f"import ctypes; ctypes.CDLL({name!r})"], capture_output=True, check=False
    )
    return done.returncode == 0


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="what stands in is for Linux")
by_name = pytest.mark.skipif(
    sys.platform != "linux" or _is_installed("libcuda.so.1"), reason="a machine without NVIDIA's driver"
)


@pytest.fixture(scope="module")
def made() -> ctypes.CDLL:
    """NVML under another name, as a machine with a driver has its own."""
    library, _ = elf.load_library("libsimulated-ml.so.1", (), _NOT_LOADED, answers)
    assert isinstance(library, ctypes.CDLL)
    return library


@pytest.fixture
def nvml(made: ctypes.CDLL) -> Iterator[ctypes.CDLL]:
    with simulated_cuda(devices=2):
        yield made


@by_name
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
    assert count.value == torch.cuda.device_count() == 2
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


class _Pci(ctypes.Structure):
    """As `nvml.h` declares it."""

    _fields_ = [
        ("busIdLegacy", ctypes.c_char * 16),
        *((name, ctypes.c_uint) for name in ("domain", "bus", "device", "pciDeviceId", "pciSubSystemId")),
        ("busId", ctypes.c_char * 32),
    ]


def test_nvml_tells_where_a_device_is_on_the_bus_and_finds_it_there(nvml: ctypes.CDLL) -> None:
    handle, pci, index = ctypes.c_void_p(), _Pci(), ctypes.c_uint()
    nvml.nvmlDeviceGetHandleByIndex_v2(1, ctypes.byref(handle))
    assert nvml.nvmlDeviceGetPciInfo_v3(handle, ctypes.byref(pci)) == 0
    assert (pci.busId, pci.busIdLegacy) == (b"00000000:02:00.0", b"0000:02:00.0")
    properties = torch.cuda.get_device_properties(1)
    assert (pci.domain, pci.bus, pci.device) == (
        properties.pci_domain_id, properties.pci_bus_id, properties.pci_device_id,
    )  # fmt: skip
    again = ctypes.c_void_p()
    assert nvml.nvmlDeviceGetHandleByPciBusId_v2(pci.busId, ctypes.byref(again)) == 0
    assert nvml.nvmlDeviceGetIndex(again, ctypes.byref(index)) == 0
    assert index.value == 1
    assert nvml.nvmlDeviceGetHandleByPciBusId_v2(b"00000000:09:00.0", ctypes.byref(again)) == _NOT_FOUND
    assert nvml.nvmlDeviceGetHandleByUUID(b"GPU-none", ctypes.byref(again)) == _NOT_FOUND


def test_nvml_tells_of_devices_that_do_nothing(nvml: ctypes.CDLL) -> None:
    handle, count = ctypes.c_void_p(), ctypes.c_uint(7)
    rates, memory = (ctypes.c_uint * 2)(9, 9), (ctypes.c_ulonglong * 5)()
    nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(handle))
    assert nvml.nvmlDeviceGetUtilizationRates(handle, rates) == 0
    assert nvml.nvmlDeviceGetComputeRunningProcesses_v3(handle, ctypes.byref(count), None) == 0
    assert nvml.nvmlDeviceGetMemoryInfo_v2(handle, memory) == 0
    assert ([*rates], count.value) == ([0, 0], 0)
    total = torch.cuda.get_device_properties(0).total_memory
    assert [*memory][1:] == [total, 0, total, 0]


def test_nvml_tells_the_versions_of_the_driver(nvml: ctypes.CDLL) -> None:
    text, version = ctypes.create_string_buffer(80), ctypes.c_int()
    assert nvml.nvmlSystemGetDriverVersion(text, 80) == nvml.nvmlInitWithFlags(0) == nvml.nvmlShutdown() == 0
    assert [part.isdigit() for part in text.value.split(b".")] == [True] * 3
    assert nvml.nvmlSystemGetCudaDriverVersion_v2(ctypes.byref(version)) == 0
    major, minor = map(int, str(torch.version.cuda).split("."))
    assert version.value == 1000 * major + 10 * minor
    assert not hasattr(nvml, "nvmlDeviceGetPowerUsage")


@by_name
def test_nvml_is_found_by_name_and_has_no_devices_when_the_simulation_has_ended() -> None:
    with simulated_cuda(devices=2):
        assert torch.cuda._device_count_nvml() == 2
        assert ctypes.CDLL("libnvidia-ml.so.1").nvmlInit_v2() == 0
    assert ctypes.CDLL("libnvidia-ml.so.1").nvmlInit_v2() == _NOT_LOADED


def test_what_stands_in_fails_where_it_does_not_answer() -> None:
    answer = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(lambda number: number + 1)
    library, _ = elf.load_library("libstands-in.so.1", ["first", "second"], 7, {"answers": answer})
    assert [library.first(), library.second(), library.answers(41)] == [7, 7, 42]
    assert not hasattr(library, "third")


def test_nccl_is_not_there_for_those_who_load_it_themselves() -> None:
    with simulated_cuda(), pytest.raises(OSError, match=r"libnccl\.so\.2: not simulated"):
        ctypes.CDLL("/opt/lib/libnccl.so.2")


@by_name
def test_what_is_loaded_needs_no_file() -> None:
    with simulated_cuda():
        ctypes.CDLL("libcuda.so.1")
    maps = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    assert {"memfd" in line for line in maps if "libcuda.so.1" in line} == {True}


@pytest.mark.parametrize(
    ("machine", "number", "fails"),
    [
        ("x86_64", 62, bytes.fromhex("b8 64000000 c3")),  # mov eax, 100; ret
        ("aarch64", 183, bytes.fromhex("800c8052 c0035fd6")),  # mov w0, #100; ret
    ],
)
def test_what_stands_in_for_a_library_is_whole(
    monkeypatch: pytest.MonkeyPatch, machine: str, number: int, fails: bytes
) -> None:
    """Read as the format says, for the one of the two machines that this is not, too."""
    monkeypatch.setattr(platform, "machine", lambda: machine)
    answered = ["one", "two", "three"]
    image = elf.build("lib.so.1", ["fails", "fails_too"], _NO_DEVICE, answered)
    assert image is not None
    assert (image[:7], *struct.unpack_from("<HH", image, 16)) == (b"\x7fELF\x02\x01\x01", 3, number)
    at, size, count = struct.unpack_from("<Q", image, 32)[0], *struct.unpack_from("<HH", image, 54)
    headers = [struct.unpack_from("<IIQQQQQQ", image, at + size * each) for each in range(count)]
    loaded = [(offset, offset + length) for kind, _, offset, _, _, length, _, _ in headers if kind == 1]
    assert loaded[-1][1] == len(image)
    ((start, length),) = [(each[2], each[5]) for each in headers if each[0] == 2]
    dynamic = dict(struct.iter_unpack("<QQ", image[start : start + length]))
    names, symbols, hashes = dynamic[5], dynamic[6], dynamic[4]
    (chain,) = struct.unpack_from("<I", image, hashes + 4)
    found = {}
    for place in range(symbols + dynamic[11], symbols + dynamic[11] * chain, dynamic[11]):
        name, _, _, _, address, room = struct.unpack_from("<IBBHQQ", image, place)
        found[image[names + name : image.index(b"\0", names + name)].decode()] = address, room
    assert [*found] == ["fails", "fails_too", *answered, "syncscan_slots"]
    assert image[found["fails"][0] :].startswith(fails)
    slots, room = found["syncscan_slots"]
    assert (start + length <= slots, slots + room) == (True, len(image))
    code = [found[name] for name in ("fails", *answered)]
    assert all(address + room <= loaded[0][1] for address, room in code)
    assert all(one + room <= other for (one, room), (other, _) in itertools.pairwise(code))


def test_the_accelerator_answers_as_cuda_does() -> None:
    with simulated_cuda(devices=2):
        assert torch.accelerator.get_memory_info() == torch.cuda.mem_get_info()
        assert torch.bfloat16 in torch.accelerator.get_device_capability()["supported_dtypes"]
        stats = torch.accelerator.memory_stats()
        assert stats["allocated_bytes.all.peak"] == torch.cuda.memory_stats()["num_ooms"] == 0
        with torch.accelerator.device_index(1):
            assert torch.cuda.current_device() == torch.ones(1, device="cuda").device.index == 1
        assert torch.cuda.current_device() == 0

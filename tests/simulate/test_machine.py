"""The machine around torch: the libraries of the driver, NVML's answers, and the figures of the devices."""

from __future__ import annotations

import ctypes
import itertools
import platform
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from syncscan.simulate.context import simulated_cuda
from syncscan.simulate.inside import machine
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
def test_the_driver_is_found_by_name() -> None:
    with simulated_cuda():
        assert ctypes.CDLL("libcuda.so.1").cuInit(0) == _NO_DEVICE


def test_the_driver_only_fails_and_needs_no_file() -> None:
    """Under another name, as a machine with a driver has its own."""
    driver = machine._make_driver("libsimulated-driver.so.1")[0]
    assert [driver.cuInit(0), driver.cuTensorMapEncodeTiled(), driver.cuGetProcAddress_v2()] == [
        _NO_DEVICE
    ] * 3
    assert not hasattr(driver, "cuNoSuchFunction")
    maps = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    assert {"memfd" in line for line in maps if "libsimulated-driver.so.1" in line} == {True}
    assert ctypes.CDLL("libsimulated-driver.so.1")._handle == driver._handle


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


@pytest.mark.parametrize(("version", "number"), [("12.8", 12080), ("13.0", 13000), ("11.4", 11040)])
def test_nvml_tells_the_version_of_cuda_as_the_driver_does(
    nvml: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch, version: str, number: int
) -> None:
    monkeypatch.setattr(torch.version, "cuda", version)
    told = ctypes.c_int()
    assert nvml.nvmlSystemGetCudaDriverVersion_v2(ctypes.byref(told)) == 0
    assert told.value == number


def test_nvml_refuses_a_device_that_is_not_there_and_cuts_text_to_its_room(nvml: ctypes.CDLL) -> None:
    handle, name = ctypes.c_void_p(), ctypes.create_string_buffer(b"x" * 8)
    assert nvml.nvmlDeviceGetHandleByIndex_v2(2, ctypes.byref(handle)) == _BAD_ARGUMENT
    assert nvml.nvmlDeviceGetName(None, name, 4) == _BAD_ARGUMENT
    nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(handle))
    assert nvml.nvmlDeviceGetName(handle, name, 4) == 0
    assert name.raw[:5] == b"Sim\0x"
    nvml.nvmlErrorString.restype = ctypes.c_char_p
    said = [nvml.nvmlErrorString(status) for status in (0, _BAD_ARGUMENT, _NOT_FOUND, _NOT_LOADED, 999)]
    assert said == [b"Success", b"Invalid Argument", b"Not Found", b"Driver Not Loaded", b"Unknown Error"]
    beyond = ctypes.c_void_p(3)
    assert nvml.nvmlDeviceGetName(beyond, name, 4) == _BAD_ARGUMENT
    assert nvml.nvmlDeviceGetName(ctypes.c_void_p(2), name, 8) == 0
    assert name.raw == b"Simulat\0\0"


def test_nvml_tells_that_no_device_reads_the_memory_of_another(nvml: ctypes.CDLL) -> None:
    first, second, status = ctypes.c_void_p(1), ctypes.c_void_p(2), ctypes.c_int(9)
    assert nvml.nvmlDeviceGetP2PStatus(first, second, 0, ctypes.byref(status)) == 0
    assert status.value == 5  # NVML_P2P_STATUS_NOT_SUPPORTED


def test_nvml_has_the_gpus_that_a_process_does_not_see_too(
    nvml: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5, 2")
    count, handle = ctypes.c_uint(), ctypes.c_void_p()
    assert nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)) == 0
    assert count.value == 6
    assert nvml.nvmlDeviceGetHandleByIndex_v2(5, ctypes.byref(handle)) == 0
    assert nvml.nvmlDeviceGetName(handle, ctypes.create_string_buffer(96), 96) == 0
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-4,x")
    assert nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)) == 0
    assert count.value == 2


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
def test_nvml_is_found_by_name() -> None:
    with simulated_cuda(devices=2):
        assert torch.cuda._device_count_nvml() == 2
        assert ctypes.CDLL("libnvidia-ml.so.1").nvmlInit_v2() == 0
    assert ctypes.CDLL("libnvidia-ml.so.1").nvmlInit_v2() == _NOT_LOADED


def test_nvml_has_no_devices_when_the_simulation_has_ended(made: ctypes.CDLL) -> None:
    with simulated_cuda():
        assert made.nvmlInit_v2() == 0
    count, handle = ctypes.c_uint(7), ctypes.c_void_p(1)
    assert made.nvmlInit_v2() == made.nvmlDeviceGetCount_v2(ctypes.byref(count)) == _NOT_LOADED
    assert made.nvmlDeviceGetIndex(handle, ctypes.byref(count)) == _NOT_LOADED
    assert count.value == 7


def test_what_stands_in_fails_where_it_does_not_answer() -> None:
    answer = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(lambda number: number + 1)
    library, _ = elf.load_library("libstands-in.so.1", ["first", "second"], 7, {"answers": answer})
    assert [library.first(), library.second(), library.answers(41)] == [7, 7, 42]
    assert not hasattr(library, "third")


def test_nccl_is_not_there_for_those_who_load_it_themselves() -> None:
    with simulated_cuda(), pytest.raises(OSError, match=r"libnccl\.so\.2: not simulated"):
        ctypes.CDLL("/opt/lib/libnccl.so.2")


def test_nothing_stands_in_on_a_machine_of_an_unknown_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert elf.load_library("libstands-in.so.1", ["first"], 7, {}) is None


def test_nothing_stands_in_where_nothing_runs_that_is_not_on_a_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> None:
        asked.append(name)
        raise OSError(f"{name}: failed to map segment from shared object")

    asked: list[str] = []
    monkeypatch.setattr(ctypes, "CDLL", refuse)
    assert elf.load_library("libstands-in.so.1", ["first"], 7, {}) is None
    assert not Path(asked[0]).exists()  # closed


def _x86_jumps_to(code: bytes) -> int:
    jump, by = struct.unpack("<Hi", code[:6])
    assert jump == 0x25FF  # jmp [rip + offset], from the end of the instruction
    return 6 + int(by)


def _arm_jumps_to(code: bytes) -> int:
    load, branch = struct.unpack("<II", code)
    assert (load & 0xFF00001F, branch) == (0x58000010, 0xD61F0200)  # ldr x16, [pc + offset]; br x16
    return int(load >> 5 & 0x7FFFF) * 4


@pytest.mark.parametrize(
    ("kind", "number", "fails", "jumps_to"),
    [
        ("x86_64", 62, bytes.fromhex("b8 64000000 c3"), _x86_jumps_to),  # mov eax, 100; ret
        ("aarch64", 183, bytes.fromhex("800c8052 c0035fd6"), _arm_jumps_to),  # mov w0, #100; ret
    ],
)
def test_what_stands_in_for_a_library_is_whole(
    monkeypatch: pytest.MonkeyPatch, kind: str, number: int, fails: bytes, jumps_to: Callable[[bytes], int]
) -> None:
    """Read as the format says, for the one of the two machines that this is not, too."""
    monkeypatch.setattr(platform, "machine", lambda: kind)
    answered = ["one", "two", "three"]
    image = elf.build("lib.so.1", ["fails", "fails_too"], _NO_DEVICE, answered)
    assert image is not None
    assert image[:16] == b"\x7fELF\x02\x01\x01" + bytes(9)
    assert struct.unpack_from("<HHIQQQIHHHHHH", image, 16) == (
        3, number, 1, 0, 64, 0, 0, 64, 56, 4, 0, 0, 0,
    )  # fmt: skip
    headers = [struct.unpack_from("<IIQQQQQQ", image, 64 + 56 * each) for each in range(4)]
    for _, _, offset, address, physical, size, room, align in headers:
        assert (offset == address == physical, size == room, offset % align) == (True, True, 0)
        assert align & (align - 1) == 0
    assert [(kind, flags) for kind, flags, *_ in headers] == [(1, 5), (1, 6), (2, 4), (0x6474E551, 6)]
    (_, _, at, _, _, size, _, page), data, (_, _, start, _, _, length, *_), _ = headers
    assert (at, page, data[2] // page, data[2] + data[5]) == (0, 1 << 16, 1, len(image))
    assert start == data[2]
    dynamic = dict(struct.iter_unpack("<QQ", image[start : start + length]))
    assert [*dynamic] == [14, 4, 5, 6, 10, 11, 0]
    names, symbols, hashes = dynamic[5], dynamic[6], dynamic[4]
    table = image[names : names + dynamic[10]]
    assert (table[0], table[-1], dynamic[11], symbols) == (0, 0, 24, 64 + 56 * 4)
    assert table[dynamic[14] :].startswith(b"lib.so.1\0")
    buckets, known, first = struct.unpack_from("<III", image, hashes)
    chain = struct.unpack_from(f"<{known}I", image, hashes + 12)
    assert (buckets, hashes, names) == (1, symbols + 24 * known, hashes + 4 * (3 + known))
    assert image[symbols : symbols + 24] == bytes(24)
    found = {}
    while first:
        name, is_a, seen, section, address, room = struct.unpack_from("<IBBHQQ", image, symbols + 24 * first)
        found[table[name : table.index(b"\0", name)].decode()] = address, room, (is_a, seen, section)
        first = chain[first]
    assert [*found] == ["fails", "fails_too", *answered, "syncscan_slots"]
    slots, room, symbol = found.pop("syncscan_slots")
    assert (start + length, slots + room, room, symbol) == (slots, len(image), 24, (0x11, 0, 2))
    assert {symbol for _, _, symbol in found.values()} == {(0x12, 0, 1)}
    assert image[found["fails"][0] :].startswith(fails)
    assert found["fails_too"] == found["fails"]
    code = [found[name][:2] for name in ("fails", *answered)]
    assert code[0][0] % 8 == 0
    assert code[-1][0] + code[-1][1] == size
    assert all(address + room == other for (address, room), (other, _) in itertools.pairwise(code))
    jumps = [address + jumps_to(image[address : address + room]) for address, room in code[1:]]
    assert jumps == [slots, slots + 8, slots + 16]
    assert image[slots:] == bytes(24)


def test_the_accelerator_answers_as_cuda_does() -> None:
    with simulated_cuda(devices=2):
        assert torch.accelerator.get_memory_info() == torch.cuda.mem_get_info()
        assert torch.bfloat16 in torch.accelerator.get_device_capability()["supported_dtypes"]
        stats = torch.accelerator.memory_stats()
        assert stats["allocated_bytes.all.peak"] == torch.cuda.memory_stats()["num_ooms"] == 0
        with torch.accelerator.device_index(1):
            assert torch.cuda.current_device() == torch.ones(1, device="cuda").device.index == 1
        assert torch.cuda.current_device() == 0

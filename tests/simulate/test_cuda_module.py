"""What `torch.cuda` answers: figures, generators, events, and what copies between devices."""

from __future__ import annotations

import copy
import pickle
import runpy
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn.parallel import comm

from syncscan.simulate.context import simulated_cuda


@pytest.fixture(autouse=True)
def seen() -> Iterator[list[object]]:
    with simulated_cuda() as syncs:
        yield syncs


def test_its_figures_are_those_of_an_idle_h200() -> None:
    properties = torch.cuda.get_device_properties(0)
    assert (properties.major, properties.minor) == torch.cuda.get_device_capability() == (9, 0)
    assert (properties.multi_processor_count, properties.warp_size) == (132, 32)
    assert torch.cuda.utilization() == torch.cuda.memory_allocated() == 0
    assert torch.cuda.Stream.priority_range() == torch.cuda.current_stream().priority_range() == (0, -3)


def test_its_limits_are_those_that_cuda_documents_for_its_capability() -> None:
    properties = torch.cuda.get_device_properties(0)
    kib = 1024
    assert {name: getattr(properties, name) for name in vars(properties) if "per_" in name} == {
        "max_threads_per_multi_processor": 2048,
        "max_threads_per_block": 1024,
        "regs_per_multiprocessor": 64 * kib,
        "shared_memory_per_block": 48 * kib,
        "shared_memory_per_block_optin": 227 * kib,
        "shared_memory_per_multiprocessor": 228 * kib,
    }
    assert properties.total_memory == torch.cuda.mem_get_info()[1]
    assert not properties.is_integrated
    assert not properties.is_multi_gpu_board


@pytest.mark.parametrize(
    ("mode", "told"), [("default", 0), ("warn", 1), ("error", 2), (0, 0), (1, 1), (2, 2)]
)
def test_the_debug_mode_is_the_one_that_was_set(mode: int | str, told: int) -> None:
    torch.cuda.set_sync_debug_mode(mode)
    assert torch.cuda.get_sync_debug_mode() == told


def test_a_program_sees_a_torch_that_was_built_for_cuda_at_its_top_too(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text("import torch\nbuilt = torch.backends.cuda.is_built()\n")
    assert runpy.run_path(str(path))["built"] is True


def _pickled(generator: torch.Generator) -> torch.Generator:
    twin: torch.Generator = pickle.loads(pickle.dumps(generator))
    return twin


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, _pickled])
def test_a_copied_generator_goes_on_where_its_original_stands(
    copied: Callable[[torch.Generator], torch.Generator],
) -> None:
    generator = torch.Generator("cuda").manual_seed(7)
    torch.rand(3, device="cuda", generator=generator)
    twin = copied(generator)
    assert twin.device.type == generator.device.type == "cuda"
    numbers = [torch.rand(3, device="cuda", generator=one) for one in (generator, twin)]
    assert torch.equal(*numbers)


def test_events_tell_milliseconds_between_their_records() -> None:
    first, second = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    before = time.perf_counter()
    first.record()
    begin = time.perf_counter()
    sum(range(100_000))
    end = time.perf_counter()
    second.record()
    after = time.perf_counter()
    assert (end - begin) * 1e3 <= first.elapsed_time(second) <= (after - before) * 1e3


@pytest.mark.parametrize(
    "arguments", [("cuda",), ("cuda", torch.bfloat16)], ids=["device", "device and dtype"]
)
def test_autocast_casts_what_lies_on_the_gpu_and_not_what_lies_on_the_host(
    arguments: tuple[object, ...],
) -> None:
    gpu, host = torch.ones(2, 2, device="cuda"), torch.ones(2, 2)
    with torch.autocast(*arguments):
        assert (gpu @ gpu).dtype == torch.get_autocast_dtype("cuda")
        assert torch.is_autocast_enabled("cuda")
    assert (gpu @ gpu).dtype == (host @ host).dtype == torch.float32


def test_autocast_leaves_that_of_the_host_as_it_was() -> None:
    gpu, host = torch.rand(2, 2, device="cuda"), torch.rand(2, 2)
    before = torch.get_autocast_dtype("cpu")
    with torch.autocast("cuda"):
        assert (torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")) == (False, before)
        with torch.autocast("cpu", torch.float16), torch.autocast("cuda", enabled=False):
            assert ((gpu @ gpu).dtype, (host @ host).dtype) == (torch.float16, torch.float16)
        assert torch.is_autocast_enabled("cuda")
        assert not torch.is_autocast_enabled("cpu")
    assert (torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")) == (False, before)
    assert (host @ host).dtype == torch.float32
    with torch.autocast("cpu"):
        assert (host @ host).dtype == before


def test_each_thread_has_its_own_autocast() -> None:
    gpu, found = torch.rand(2, 2, device="cuda"), []

    def multiply() -> None:
        found.append((gpu @ gpu).dtype)
        with torch.autocast("cuda", torch.bfloat16):
            found.append((gpu @ gpu).dtype)

    with torch.autocast("cuda"):
        thread = threading.Thread(target=multiply)
        thread.start()
        thread.join()
        found.append((gpu @ gpu).dtype)
    assert found == [torch.float32, torch.bfloat16, torch.float16]


@pytest.mark.parametrize("arguments", [(True,), ("cuda", True)])
def test_autocast_that_is_switched_on_alone_casts_to_the_type_of_the_gpu(arguments: tuple[Any, ...]) -> None:
    gpu, before = torch.rand(2, 2, device="cuda"), torch.get_autocast_dtype("cuda")
    torch.set_autocast_enabled(*arguments)
    try:
        assert (
            ((gpu @ gpu).dtype, torch.get_autocast_dtype("cuda"))
            == (torch.float16, torch.float16)
            == (before,) * 2
        )
    finally:
        torch.set_autocast_enabled(*arguments[:-1], False)
    assert (gpu @ gpu).dtype == torch.float32


def test_autocast_that_is_switched_on_without_a_device_is_that_of_the_gpu() -> None:
    gpu = torch.ones(2, 2, device="cuda")
    torch.set_autocast_enabled(True)
    torch.set_autocast_dtype("cuda", torch.float16)
    try:
        assert (gpu @ gpu).dtype == torch.float16
    finally:
        torch.set_autocast_enabled(False)
    assert (gpu @ gpu).dtype == torch.float32


@pytest.mark.parametrize("how", [{}, {"non_blocking": False}, {"non_blocking": True}], ids=str)
@pytest.mark.parametrize("pinned", [False, True], ids=["pageable", "pinned"])
def test_a_storage_that_moves_waits_as_its_tensor_does(
    seen: list[object], pinned: bool, how: dict[str, bool]
) -> None:
    tensor = torch.ones(4).pin_memory() if pinned else torch.ones(4)
    storage = tensor.untyped_storage()
    seen.clear()
    assert tensor.cuda(**how).is_cuda
    waits = len(seen)
    seen.clear()
    moved = storage.cuda(**how)
    assert (moved.device.type, moved.get_device(), len(seen)) == ("cuda", 0, waits)
    seen.clear()
    back = moved.cpu()
    assert (back.device.type, back.get_device(), len(seen)) == ("cpu", -1, 1)
    assert back.tolist() == storage.tolist()
    seen.clear()
    assert (storage.cpu() is storage, moved.cuda() is moved, storage.is_pinned()) == (True, True, pinned)
    assert not seen


def test_a_tensor_that_is_pickled_is_copied_to_the_host_once(seen: list[object]) -> None:
    x = torch.arange(4.0, device="cuda")
    seen.clear()
    text = pickle.dumps(x)
    assert len(seen) == 1
    copied = pickle.loads(text)
    assert (copied.device.type, copied.tolist()) == ("cuda", [0, 1, 2, 3])
    seen.clear()
    pickle.dumps(torch.arange(4.0))
    assert not seen


def test_what_copies_between_devices_gives_a_tensor_for_each() -> None:
    x = torch.arange(4.0, device="cuda")
    for (copied,) in (comm.broadcast(x, [0]), comm.scatter(x, [0])):
        assert (copied.device, copied.tolist()) == (torch.device("cuda", 0), [0, 1, 2, 3])
    gathered = comm.gather([x, x], destination=0)
    assert (gathered.device.type, gathered.shape) == ("cuda", (8,))
    assert comm.gather([x], destination="cpu").device.type == "cpu"


def test_a_subclass_of_the_program_sees_the_moves_of_its_tensors() -> None:
    moves = []

    class Own(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            moves.append(function.__name__)
            return super().__torch_function__(function, types, args, kwargs or {})

    own = torch.ones(2).as_subclass(Own)
    assert type(own.cuda()) is Own
    assert own.to("cuda").device.type == "cuda"
    assert {"cuda", "to"} <= set(moves)
    moves.clear()
    assert torch.ones(2).to("cuda").device.type == "cuda"
    assert not moves


def test_what_names_no_device_means_the_current_one() -> None:
    name: Any = "cuda".index  # of a program that has a text where it thinks that it has a device
    assert torch.cuda.get_device_properties(name).multi_processor_count == 132
    assert torch.cuda.current_stream(name).device == torch.device("cuda", 0)
    with pytest.raises(AssertionError, match="Invalid device id"):
        torch.cuda.get_device_properties(7)


@pytest.mark.parametrize("timed", [(True, False), (False, True), (False, False)], ids=str)
def test_events_tell_no_time_unless_both_were_made_for_it(timed: tuple[bool, bool]) -> None:
    first, second = (torch.cuda.Event(enable_timing=each) for each in timed)
    first.record()
    second.record()
    with pytest.raises(ValueError, match="enable_timing=True"):
        first.elapsed_time(second)


@pytest.mark.parametrize("recorded", [(True, False), (False, True), (False, False)], ids=str)
def test_events_tell_no_time_unless_both_were_recorded(recorded: tuple[bool, bool]) -> None:
    events = [torch.cuda.Event(enable_timing=True) for _ in recorded]
    for event, is_recorded in zip(events, recorded, strict=True):
        if is_recorded:
            event.record()
    with pytest.raises(ValueError, match="must be recorded"):
        events[0].elapsed_time(events[1])


@pytest.mark.parametrize("name", ["Event", "Stream"])
def test_its_classes_are_called_as_those_of_torch(name: str) -> None:
    kind = getattr(torch.cuda, name)
    assert (kind.__module__, kind.__qualname__) == ("torch.cuda.streams", name)
    assert f"{kind}" == f"<class 'torch.cuda.streams.{name}'>"


@pytest.mark.parametrize("pinned", [False, True], ids=["pageable", "pinned"])
def test_a_storage_is_cloned_and_pinned_as_its_tensor_is(seen: list[object], pinned: bool) -> None:
    tensor = torch.arange(3, dtype=torch.uint8)
    storage = (tensor.pin_memory() if pinned else tensor).untyped_storage()
    seen.clear()
    cloned, locked = storage.clone(), storage.pin_memory()
    assert (cloned.tolist(), locked.tolist()) == ([0, 1, 2], [0, 1, 2])
    assert locked.is_pinned()
    assert (cloned.device.type, locked.device.type) == ("cpu", "cpu")
    moved = tensor.cuda().untyped_storage()
    seen.clear()
    twin = moved.clone()
    assert (twin.device, seen) == (moved.device, [])
    moved.fill_(0)
    assert twin.tolist() == [0, 1, 2]


@pytest.mark.parametrize(("device", "expected"), [(None, "cuda"), ("cuda", "cuda"), ("cpu", "cpu")])
def test_what_comes_by_dlpack_is_where_it_was_asked_for(device: str | None, expected: str) -> None:
    given = {} if device is None else {"device": device}
    made = torch.from_dlpack(torch.ones(2, device="cuda"), **given)
    assert (made.device.type, made.tolist()) == (expected, [1, 1])


@pytest.mark.parametrize(("device", "expected"), [(None, "cpu"), ("cuda", "cuda")])
def test_what_comes_by_dlpack_from_the_host_is_where_it_was_asked_for(
    device: str | None, expected: str
) -> None:
    made = torch.from_dlpack(torch.ones(2), device=device)
    assert (made.device.type, made.tolist()) == (expected, [1, 1])


def test_a_number_alone_is_a_device_of_the_gpu() -> None:
    with simulated_cuda():
        assert (torch.device(0), torch.device(1)) == (torch.device("cuda:0"), torch.device("cuda:1"))
        assert torch.zeros(1, device=torch.device(0)).is_cuda
        assert torch.device(torch.device("cpu")).type == "cpu"
        with torch.device(0):
            assert torch.zeros(1).is_cuda
            assert torch.device(0).type == "cuda"


def test_a_generator_of_the_gpu_is_moved_back_by_its_offset() -> None:
    with simulated_cuda() as waits:
        generator = torch.Generator("cuda").manual_seed(5)
        assert generator.get_offset() == 0
        first = torch.rand(3, device="cuda", generator=generator)
        assert generator.get_offset() == 4
        second = torch.rand(3, device="cuda", generator=generator)
        generator.set_offset(generator.get_offset() - 4)
        again = torch.rand(3, device="cuda", generator=generator)
        with pytest.raises(RuntimeError, match="multiple of 4"):
            generator.set_offset(3)
        generator.manual_seed(5)
        anew = torch.rand(3, device="cuda", generator=generator)
        assert not waits
        assert (again.tolist(), anew.tolist()) == (second.tolist(), first.tolist())


# Arguments of wrong types, on purpose; the messages are those of torch 2.11 on an H200.
NUMBER: Any = 3
TEXT: Any = "a"
UNREADABLE: dict[str, Callable[[], Any]] = {
    "expected other to be a torch.cuda.Event object": lambda: torch.cuda.Event().elapsed_time(3),
    "expected stream to be a torch.Stream or torch.cuda.Stream": lambda: torch.cuda.Event().record(3),
    "^expected stream to be a torch.Stream or torch.cuda.Stream": lambda: torch.cuda.Event().wait(3),
    "Unknown capture error mode.*got odd": lambda: torch.cuda.CUDAGraph().capture_begin(
        capture_error_mode="odd"
    ),
    "present state": lambda: torch.cuda.CUDAGraph().capture_end(),
    "CUDAGraph::pool.. without a preceding successful capture": lambda: torch.cuda.CUDAGraph().pool(),
    "must have been called before calling instantiate": lambda: torch.cuda.CUDAGraph().instantiate(),
    "'int' object has no attribute 'capture_begin'": lambda: torch.cuda.graph(NUMBER).__enter__(),
    r"torch._C._CUDAGraph.keep_graph: bool = False.*Invoked with: 'a'": lambda: torch.cuda.CUDAGraph(TEXT),
    r"_accelerator_setStream.*arg0: torch.Stream.*Invoked with: 3": lambda: torch.accelerator.set_stream(
        NUMBER
    ),
    r"^_CudaStreamBase.priority_range.. takes no arguments .1 given.": lambda: (
        torch.cuda.Stream.priority_range(*[NUMBER])
    ),
    "Invalid device id": lambda: torch.cuda.get_device_properties(7),
    "invalid keyword argument|unexpected keyword argument": lambda: torch.cuda.Stream(other=1),
    "'str' object cannot be interpreted as an integer": lambda: torch.cuda.Stream(priority="high"),  # type: ignore[arg-type]
    "^'str' object cannot be interpreted as an integer": lambda: torch.cuda.Event("yes"),  # type: ignore[arg-type]
    "'int' object has no attribute 'wait'": lambda: torch.cuda.Stream().wait_event(3),  # type: ignore[arg-type]
    "'int' object has no attribute 'stream_id'": lambda: torch.cuda.set_stream(3),  # type: ignore[arg-type]
    "Expected a cuda device, but got: cpu": lambda: torch.cuda.Stream("cpu"),
    "invalid device ordinal": lambda: torch.cuda.Stream("cuda:7"),
    "^CUDA error: invalid device ordinal": lambda: torch.cuda.device(7).__enter__(),
}


@pytest.mark.parametrize("message", UNREADABLE)
def test_arguments_that_torch_reads_in_cpp_have_its_messages(message: str) -> None:
    with pytest.raises(
        (TypeError, AttributeError, ValueError, RuntimeError, AssertionError), match=f"(?s){message}"
    ):
        UNREADABLE[message]()
    assert torch.cuda.current_device() == 0


def test_streams_and_events_of_cuda_are_those_of_any_device() -> None:
    stream, event = torch.cuda.Stream(priority=-1), torch.cuda.Event()
    assert isinstance(stream, torch.Stream)
    assert isinstance(event, torch.Event)
    assert (repr(event), event.cuda_event) == ("<torch.cuda.Event uninitialized>", 0)
    assert event.device is None
    event.record()
    assert event.cuda_event > 0
    assert event.device == torch.device("cuda", 0)
    assert torch.cuda.Stream.priority_range() == (0, -3)
    assert torch.cuda.Stream(priority=-99).priority == -3
    with stream:
        assert torch.cuda.current_stream() == stream
        assert torch.cuda.current_stream().priority == -1
        assert torch.accelerator.current_stream().stream_id == stream.stream_id
    assert torch.cuda.current_stream() == torch.cuda.default_stream() != stream

"""Operations whose kernel is for the GPU alone: shapes and places are right, and the numbers are zero."""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from syncscan.simulate.context import simulated_cuda
from syncscan.simulate.inside.errors import SimulationError

_library = torch.library.Library("syncscan_uncomputed", "DEF")  # its operations have no kernel here
_library.define("scale(Tensor x, float by, *, ScalarType? dtype=None) -> (Tensor, Tensor)")
_library.define("fill(Tensor x, Tensor(a!) out) -> ()")
_library.define("accumulate(Tensor x, Tensor(a!)[] caches, Tensor(b!) total) -> Tensor(b!)")
_library.define("attend(Tensor q, Tensor k) -> Tensor[]")
_library.define("unknown(Tensor x) -> Tensor")
_library.define("latent(Tensor q, Tensor k, Tensor v) -> (Tensor, Tensor)")
_library.define("halve(Tensor x) -> Tensor")
_library.define("pair(Tensor x) -> (Tensor, Tensor)")
_library.define("grow(Tensor x, Tensor(a!) out) -> (Tensor(a!), Tensor)")
_library.define("lose(Tensor x) -> (Tensor, Tensor)")
_library.define("maybe(Tensor x) -> (Tensor, Tensor?)")
_library.define("stretch(Tensor x, Tensor(a!) out) -> (Tensor(a!), Tensor)")


@torch.library.register_fake("syncscan_uncomputed::scale")
def _scale(
    x: torch.Tensor, by: float, *, dtype: torch.dtype | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    return x.new_empty((*x.shape, 2), dtype=dtype), torch.empty(
        x.shape[0], device=x.device, dtype=torch.int32
    )


@torch.library.register_fake("syncscan_uncomputed::grow")
def _grow(x: torch.Tensor, out: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return out, torch.empty(2 * x.shape[0], device=x.device)


@torch.library.register_fake("syncscan_uncomputed::halve")
def _halve(x: torch.Tensor) -> torch.Tensor:
    return x.new_empty(x.shape[0] // 2)


@torch.library.register_fake("syncscan_uncomputed::pair")
def _pair(x: torch.Tensor) -> torch.Tensor:
    return x.new_empty(1)


@torch.library.register_fake("syncscan_uncomputed::lose")
@torch.library.register_fake("syncscan_uncomputed::maybe")
def _lose(x: torch.Tensor) -> tuple[torch.Tensor, None]:
    return x.new_empty(2), None


@torch.library.register_fake("syncscan_uncomputed::stretch")
def _stretch(x: torch.Tensor, out: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return out.new_empty(2 * out.shape[0]), x.new_empty(1)


_operations = torch.ops.syncscan_uncomputed


@pytest.fixture(autouse=True)
def waits() -> Iterator[list[object]]:
    declared = {
        "torch.ops.syncscan_uncomputed.attend": {"args": ["q", "k"], "count": 2},
        "torch.ops.syncscan_uncomputed.latent": {
            "args": ["q", "k", "v"],
            "count": 2,
            "shapes": ["q[0], q[1], v[-1]", "q[1], 3"],
        },
        "torch.ops.syncscan_uncomputed.halve": {"args": ["x"], "result": "gpu", "shapes": ["x[0]"]},
    }
    with simulated_cuda(operations=declared) as seen:
        yield seen
        assert not seen


def test_a_result_has_the_shape_and_dtype_that_the_fake_kernel_says_and_is_zero() -> None:
    scaled, counts = _operations.scale(torch.ones(3, 4, device="cuda"), 2.0, dtype=torch.bfloat16)
    assert (scaled.shape, scaled.dtype, scaled.device.type) == ((3, 4, 2), torch.bfloat16, "cuda")
    assert (counts.shape, counts.dtype, counts.is_cuda) == ((3,), torch.int32, True)
    assert torch.equal(scaled.to("cpu", non_blocking=True), torch.zeros(3, 4, 2, dtype=torch.bfloat16))


def test_what_the_schema_says_is_written_is_zero_afterwards_and_nothing_else() -> None:
    x, out = torch.ones(3, device="cuda"), torch.full((3, 2), 7.0, device="cuda")
    _operations.fill(x, out[:, 1])
    assert [tensor.to("cpu", non_blocking=True).tolist() for tensor in (x, out)] == [
        [1, 1, 1],
        [[7, 0], [7, 0], [7, 0]],
    ]


@pytest.mark.parametrize("shape", [(70, 3, 1000), (2, 90_000), (0, 4), (5, 1)])
def test_a_part_of_any_size_is_zero_and_its_neighbours_are_not(shape: tuple[int, ...]) -> None:
    for dtype in (torch.float32, torch.bfloat16, torch.bool):
        whole = torch.ones(*shape[:-1], 2 * shape[-1], dtype=dtype, device="cuda")
        _operations.fill(torch.ones(1, device="cuda"), whole[..., shape[-1] :])
        left, right = whole.to("cpu", non_blocking=True).split(shape[-1], -1)
        assert bool(left.all())
        assert not bool(right.any())


def test_a_result_that_is_an_argument_is_that_argument() -> None:
    x, total = torch.ones(3, device="cuda"), torch.ones(2, device="cuda")
    caches = [torch.ones(2, device="cuda") for _ in range(2)]
    assert _operations.accumulate(x, caches, total).data_ptr() == total.data_ptr()
    assert not any(part.to("cpu", non_blocking=True).any() for part in (*caches, total))
    out, grown = _operations.grow(x, total)
    assert (out.data_ptr(), grown.shape) == (total.data_ptr(), (6,))


def test_a_cache_of_which_a_part_is_written_keeps_what_it_has() -> None:
    for size, kept in ((64 << 20, 0), ((64 << 20) + 1, 7)):
        cache = torch.zeros(size, dtype=torch.int8, device="cuda")
        cache[0:1] = 7
        _operations.fill(torch.ones(1, device="cuda"), cache)
        assert cache[0].to("cpu", non_blocking=True) == kept


def test_a_result_of_which_nothing_tells_the_shape_is_as_declared() -> None:
    q = torch.ones(3, 4, device="cuda", dtype=torch.float16)
    out, sums = _operations.attend(q, q)
    assert out.shape == sums.shape == q.shape
    assert out.dtype == q.dtype
    with pytest.raises(
        SimulationError, match=r"syncscan_uncomputed::unknown cannot be simulated: .*register_fake"
    ):
        _operations.unknown(q)


def test_a_result_has_the_dimensions_of_the_operands_that_are_declared() -> None:
    q, cache = torch.ones(5, 2, 8, device="cuda"), torch.ones(7, 1, 16, device="cuda")
    out, sums = _operations.latent(q, cache, cache)
    assert (out.shape, sums.shape) == ((5, 2, 16), (2, 3))
    assert out.is_cuda
    assert sums.is_cuda


def test_a_fake_kernel_that_contradicts_what_is_said_elsewhere_is_named_at_once() -> None:
    with pytest.raises(
        SimulationError, match=r"uncomputed::halve: .* makes \[2\], and shapes \[\[4\]\] are declared"
    ):
        _operations.halve(torch.ones(4, device="cuda"))
    with pytest.raises(
        SimulationError,
        match=r"uncomputed::pair cannot .* its fake or meta kernel fails to tell .*TypeError: ",
    ):
        _operations.pair(torch.ones(4, device="cuda"))


def test_a_fake_kernel_that_contradicts_the_schema_is_named_at_once() -> None:
    x = torch.ones(3, device="cuda")
    with pytest.raises(
        SimulationError,
        match=r"uncomputed::lose: .* makes \[2\], NoneType, and its schema says Tensor, Tensor",
    ):
        _operations.lose(x)
    made, nothing = _operations.maybe(x)
    assert (made.shape, nothing) == ((2,), None)
    with pytest.raises(
        SimulationError,
        match=r"uncomputed::stretch: .* makes \[6\], \[1\], and its schema says that \[3\] is",
    ):
        _operations.stretch(x, torch.ones(3, device="cuda"))


def test_on_the_host_such_an_operation_fails_as_ever() -> None:
    with pytest.raises(NotImplementedError, match="syncscan_uncomputed::fill"):
        _operations.fill(torch.ones(1), torch.ones(1))


def test_new_memory_on_the_device_is_zero() -> None:
    one, many = torch.ones(1, device="cuda"), torch.ones(1000, device="cuda")
    for make in (
        lambda: torch.empty(1000, device="cuda"),
        lambda: torch.empty_like(many),
        lambda: one.new_empty(1000),
        lambda: torch.empty(1000, device="cuda", dtype=torch.float8_e4m3fn).float(),
        lambda: torch.ops.aten.empty.memory_format([1000], device="cuda"),
        lambda: torch.ops.aten.empty_like(many),
        lambda: torch.ops.aten.new_empty(one, [1000]),
    ):
        for _ in range(4):
            torch.full((1000,), 3.0)  # what the next one may find in its place
            assert not make().to("cpu", non_blocking=True).any()


def test_a_host_without_the_memory_of_a_gpu_gives_what_is_asked_of_it() -> None:
    with simulated_cuda():
        made = torch.empty(1 << 40, dtype=torch.uint8)
        made[-1] = 3
        assert (made.is_cuda, made.stride(), made[-2:].tolist()) == (False, (1,), [0, 3])
        with pytest.raises(RuntimeError, match="allocate"):
            torch.ones(1 << 46, dtype=torch.uint8)


def test_memory_as_large_as_a_gpu_takes_none_of_the_host() -> None:
    size = 60 << 30
    cache = torch.zeros(size, dtype=torch.int8, device="cuda")
    again = torch.empty((size // 2, 2), dtype=torch.int8, device="cuda")
    assert (cache.numel(), cache.is_cuda, again.shape) == (size, True, (size // 2, 2))
    cache[-1:] = 5
    assert cache.view(2, -1)[:, -1].to("cpu", non_blocking=True).tolist() == [0, 5]


def resident() -> int:
    """The memory that this process has in use, in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


asks_the_system = pytest.mark.skipif(
    sys.platform != "linux", reason="asks the system how much memory is in use"
)


@asks_the_system
def test_memory_takes_none_of_the_host_from_256_mib_on() -> None:
    before = resident()
    made = [torch.empty(size, dtype=torch.int8, device="cuda") for size in (256 << 20, (256 << 20) + 1)]
    assert resident() - before < 128 << 20
    assert all(each.is_cuda for each in made)


@asks_the_system
def test_memory_of_the_shape_of_another_takes_none_of_the_host_either() -> None:
    like = torch.empty(1 << 30, dtype=torch.int8, device="cuda")
    before = resident()
    made = [
        torch.empty_like(like, device="cuda"),
        torch.zeros_like(like, device="cuda"),
        like.new_empty(1 << 29, 2, device="cuda"),
        torch.empty(size=(2, 1 << 29), dtype=torch.int8, device="cuda"),
        torch.empty_like(like),
        torch.zeros_like(like),
        like.new_empty(1 << 30),
        like.new_zeros((2, 1 << 29)),
    ]
    assert {(each.numel(), each.is_cuda) for each in made} == {(1 << 30, True)}
    assert resident() - before < 1 << 29

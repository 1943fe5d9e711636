"""A state machine over CPU and simulated CUDA tensors: whatever is done gives what the CPU alone gives.

Each step is done on simulated tensors, in one of several threads, while blocks of `simulated_cuda` begin and end
around it in any order. When all blocks have ended the same steps are done again on plain CPU tensors, where a model
says on which device each result would lie. Values, devices, dtypes, shapes, strides, gradients and errors must agree.
``SYNCSCAN_EXAMPLES=20000`` tries more of them, and others each time.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

torch = pytest.importorskip("torch")

from syncscan.simulate.context import simulated_cuda  # noqa: E402
from syncscan.simulate.inside.errors import SimulationError  # noqa: E402

EXAMPLES = int(os.environ.get("SYNCSCAN_EXAMPLES", "0"))
DEVICES = ("cpu", "cuda:0", "cuda:1")
DTYPES = (torch.float32, torch.float64, torch.int64, torch.bool)
SHAPES = ((), (3,), (3, 3), (2, 3), (1, 3))
MODES = {"": contextlib.nullcontext, "no_grad": torch.no_grad, "inference": torch.inference_mode}


@torch.library.custom_op("syncscan_test::doubled", mutates_args=(), schema="(Tensor x) -> Tensor")  # type: ignore[untyped-decorator]
def doubled(x: Any) -> Any:
    return (x.mT.reshape(-1).to(torch.float64) * 2).reshape(x.mT.shape).mT.clone()


# What follows its operand's device.
ONE: dict[str, Callable[[Any], Any]] = {
    "neg": lambda x: -x,
    "abs": torch.abs,
    "clone": torch.clone,
    "sum": torch.sum,
    "cumsum": lambda x: x.cumsum(0),
    "sort": lambda x: x.sort().values,
    "order": lambda x: x.argsort(stable=True),
    "unbind": lambda x: x.unbind(0)[-1],
    "diagonal": torch.diag_embed,
    "first": lambda x: x[0],
    "rows": lambda x: x[:, 1:],
    "turned": lambda x: x.mT,
    "flat": lambda x: x.reshape(-1),
    "wide": lambda x: x.expand(2, *x.shape),
    "spread": lambda x: x.as_strided((2, 2), (1, 1)),
    "data": lambda x: x.data,
    "detached": lambda x: x.detach(),
    "double": lambda x: x.double(),
    "integer": lambda x: x.long(),
    "mask": lambda x: x > 0,
    "new": lambda x: x.new_zeros(2),
    "new of numbers": lambda x: x.new_tensor([1, 2]),
    "new filled": lambda x: x.new_full((2, 2), 3),
    "old new": lambda x: x.new([1, 0]),
    "like": torch.ones_like,
    "taken": lambda x: x[torch.zeros(2, dtype=torch.int64)],  # an index on the CPU is allowed everywhere
    "parameter": lambda x: torch.nn.Parameter(x.detach().clone()),
    "of its own": doubled,
    "added in place": lambda x: x.add_(1),
    "zeroed": lambda x: x.zero_(),
    "first zeroed": lambda x: x[0].zero_(),
    "turned and added": lambda x: x.mT.mul_(2),
    "filled by mask": lambda x: x.masked_fill_(x > 0, 0),
    "data added": lambda x: x.data.add_(1),
    "required": lambda x: x.requires_grad_(),
    "retained": lambda x: x.retain_grad() or x,
    "forgotten": lambda x: setattr(x, "grad", None) or x,
}
# What needs its operands on one device.
TWO: dict[str, Callable[[Any, Any], Any]] = {
    "added": torch.add,
    "multiplied": torch.mul,
    "product": torch.matmul,
    "compared": torch.eq,
    "joined": lambda a, b: torch.cat([a, b]),
    "stacked": lambda a, b: torch.stack([a, b]),
    "gathered": lambda a, b: a.gather(0, b),
    "chosen": lambda a, b: torch.where(a > 0, a, b),
    "added in place": lambda a, b: a.add_(b),
}
MIXED = {"added", "multiplied", "compared", "chosen", "added in place"}  # take a number from the host
# What takes operands of any device, and lies with the first.
ACROSS: dict[str, Callable[[Any, Any], Any]] = {
    "copied": lambda a, b: a.copy_(b),
    "set": lambda a, b: a.__setitem__(0, b) or a,
}
# What lies with the second: as it is simulated, and as it is on the CPU, where it must not share memory.
TO_SECOND: dict[str, Callable[[Any, Any], Any]] = {
    "moved": lambda a, b: a.to(b),
    "typed": lambda a, b: a.type_as(b),
}
TYPES = ("FloatTensor", "DoubleTensor", "LongTensor", "cuda.FloatTensor", "cuda.LongTensor")


@dataclass
class Twin:
    """Does the steps; where tensors lie is read from them, or kept beside them where there is no GPU."""

    simulated: bool
    tensors: list[Any] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    log: list[Any] = field(default_factory=list)

    def do(self, kind: str, mode: str, *arguments: Any) -> None:
        try:
            with MODES[mode]():
                getattr(self, kind)(*arguments)
        except Exception as error:
            self.log.append(type(error).__name__)

    def keep(self, tensor: Any, place: str) -> None:
        # Under any dispatch mode torch loses the gradients of one that was made in inference mode.
        if tensor.is_inference():
            tensor.requires_grad_(False)
        self.tensors.append(tensor)
        self.places.append(place)
        self.log.append(self.seen(len(self.tensors) - 1))

    def seen(self, number: int) -> tuple[Any, ...]:
        try:
            return self.facts(number)
        except RuntimeError:  # a view that may not be used any more
            return (self.places[number], "RuntimeError")

    def facts(self, number: int) -> tuple[Any, ...]:
        tensor, place = self.tensors[number], self.places[number]
        facts = [tensor.dtype, tuple(tensor.shape), tensor.stride(), tensor.requires_grad, tensor.is_leaf]
        where = str(tensor.device) if self.simulated else place
        grad = tensor.grad if tensor.is_leaf or tensor.retains_grad else None
        if grad is not None:
            facts += [grad.tolist(), str(grad.device) if self.simulated else place]
        return (where, *facts, repr(tensor.tolist()))

    def pick(self, number: int) -> int:
        return number % len(self.tensors)

    def operand(self, at: int) -> Any:
        """A tensor; in inference mode a copy, since torch tells less of views of others there."""
        tensor = self.tensors[at]
        return tensor.clone() if torch.is_inference_mode_enabled() else tensor

    def make(self, device: str, dtype: Any, shape: tuple[int, ...], with_grad: bool) -> None:
        values = torch.arange(1, 1 + torch.Size(shape).numel()).reshape(shape) % 5 - 1
        tensor = values.to(dtype).to(device if self.simulated else "cpu")
        self.keep(tensor.requires_grad_(with_grad and dtype.is_floating_point), device)

    def one(self, name: str, number: int) -> None:
        at = self.pick(number)
        place = self.places[at]
        self.keep(self.computed(place, ONE[name], self.operand(at)), place)

    def two(self, name: str, first: int, second: int) -> None:
        a, b = self.pick(first), self.pick(second)
        self.one_device(name, a, b)
        place = self.places[a] if self.places[a] != "cpu" else self.places[b]
        self.keep(self.computed(place, TWO[name], self.operand(a), self.operand(b)), place)

    def computed(self, place: str, function: Callable[..., Any], *operands: Any) -> Any:
        """What a function gives; of dtypes that the CPU refuses nobody knows what a GPU does."""
        try:
            return function(*operands)
        except NotImplementedError as error:
            if self.simulated or place == "cpu":
                raise
            raise SimulationError from error

    def one_device(self, name: str, a: int, b: int) -> None:
        """Raise where there is no GPU what there would be with one: operands on two devices."""
        if self.simulated or self.places[a] == self.places[b]:
            return
        numbers = (b,) if name == "added in place" else (a, b)
        scalar = next((n for n in numbers if self.places[n] == "cpu" and self.tensors[n].dim() == 0), None)
        if scalar is None or name not in MIXED:
            # A GPU asks this before it looks at dtypes; errors about shapes are RuntimeErrors as well.
            raise RuntimeError("two devices")

    def across(self, name: str, first: int, second: int) -> None:
        a, b = self.pick(first), self.pick(second)
        source = self.operand(b)
        if not self.simulated and self.places[a] != self.places[b] and source.requires_grad:
            source = copied(source, source.dtype)
        self.keep(ACROSS[name](self.operand(a), source), self.places[a])

    def second(self, name: str, first: int, second: int) -> None:
        a, b = self.pick(first), self.pick(second)
        if self.simulated or self.places[a] == self.places[b]:
            moved = TO_SECOND[name](self.operand(a), self.operand(b))
        else:
            moved = copied(self.operand(a), self.operand(b).dtype)
        self.keep(moved, self.places[b])

    def to(self, device: str, dtype: Any, number: int) -> None:
        at = self.pick(number)
        tensor = self.operand(at)
        if self.simulated:
            moved = tensor.to(device) if dtype is None else tensor.to(device, dtype)
        else:
            moved = tensor.to(dtype or tensor.dtype)
            if self.places[at] != device:
                moved = copied(tensor, dtype or tensor.dtype)
        self.keep(moved, device)

    def typed(self, name: str, number: int) -> None:
        at = self.pick(number)
        tensor, place, kind = self.tensors[at], self.places[at], name.startswith("cuda.")
        if kind is not place.startswith("cuda"):
            place = "cuda:0" if kind else "cpu"
        if self.simulated:
            moved = tensor.type(f"torch.{name}")
        else:
            dtype = getattr(torch, name.rpartition(".")[2]).dtype
            moved = tensor.to(dtype) if self.places[at] == place else copied(tensor, dtype)
        self.keep(moved, place)

    def shared(self, first: int, second: int) -> None:
        """``.data`` of another tensor, of the same device."""
        a, b = self.pick(first), self.pick(second)
        loses_gradients = self.tensors[a].requires_grad and self.tensors[b].is_inference()  # as in `keep`
        if self.places[a] == self.places[b] and not loses_gradients:
            self.tensors[a].data = self.tensors[b].data
            self.log.append(self.seen(a))

    def backward(self, number: int) -> None:
        self.tensors[self.pick(number)].sum().backward(retain_graph=True)

    def derivative(self, output: int, of: int) -> None:
        y, x = self.pick(output), self.pick(of)
        (grad,) = torch.autograd.grad(self.tensors[y].sum(), self.tensors[x], create_graph=True)
        self.keep(grad, self.places[x])

    def hook(self, number: int) -> None:
        at = self.pick(number)
        _ = self.tensors[at].grad_fn  # torch 2.13 crashes at a hook on a view that is out of date

        def double(grad: Any) -> Any:
            self.log.append((str(grad.device) if self.simulated else self.places[at], grad.tolist()))
            return grad * 2 + torch.ones_like(grad)

        self.tensors[at].register_hook(double)


NUMBER = st.integers(0, 30)
MODE = st.sampled_from(["", "", "", "no_grad", "inference"])


class Machine(RuleBasedStateMachine):
    """Simulated tensors, threads, and open blocks."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[tuple[Any, ...]] = []
        self.twin = Twin(simulated=True)
        self.early = started()  # simulated only in blocks of its own
        self.blocks: list[tuple[str, Any]] = []  # by the thread that began each, in any order
        self.begin("main")
        self.late = started()

    def run(self, thread: str, call: Callable[[], None]) -> None:
        if thread == "main":
            call()
        else:
            (self.early if thread == "early" else self.late).submit(call).result()

    def step(self, thread: str, *step: Any) -> None:
        """Do a step in a thread, or in one that is simulated."""
        if thread != "late" and thread not in {owner for owner, _ in self.blocks}:
            thread = "late"
        self.steps.append(step)
        self.run(thread, lambda: self.twin.do(*step))

    threads = st.sampled_from(["main", "main", "early", "late"])

    @initialize(device=st.sampled_from(DEVICES))
    def first(self, device: str) -> None:
        self.step("main", "make", "", device, torch.float32, (3, 3), True)

    @precondition(lambda self: len(self.blocks) < 4)
    @rule(thread=threads)
    def begin(self, thread: str) -> None:
        block = simulated_cuda(devices=2)
        self.run(thread, block.__enter__)
        self.blocks.append((thread, block))

    @precondition(lambda self: len(self.blocks) > 1)
    @rule(thread=threads, number=st.integers(0, 3))
    def end(self, thread: str, number: int) -> None:
        _, block = self.blocks.pop(number % len(self.blocks))
        self.run(thread, lambda: block.__exit__(None, None, None))

    @rule(
        thread=threads,
        device=st.sampled_from(DEVICES),
        dtype=st.sampled_from(DTYPES),
        shape=st.sampled_from(SHAPES),
        with_grad=st.booleans(),
    )
    def make(self, thread: str, device: str, dtype: Any, shape: Any, with_grad: bool) -> None:
        self.step(thread, "make", "", device, dtype, shape, with_grad)

    @rule(thread=threads, mode=MODE, name=st.sampled_from(sorted(ONE)), number=NUMBER)
    def one(self, thread: str, mode: str, name: str, number: int) -> None:
        self.step(thread, "one", mode, name, number)

    @rule(thread=threads, mode=MODE, name=st.sampled_from(sorted(TWO)), first=NUMBER, second=NUMBER)
    def two(self, thread: str, mode: str, name: str, first: int, second: int) -> None:
        self.step(thread, "two", mode, name, first, second)

    @rule(thread=threads, mode=MODE, name=st.sampled_from(sorted(ACROSS)), first=NUMBER, second=NUMBER)
    def across(self, thread: str, mode: str, name: str, first: int, second: int) -> None:
        self.step(thread, "across", mode, name, first, second)

    @rule(thread=threads, mode=MODE, name=st.sampled_from(sorted(TO_SECOND)), first=NUMBER, second=NUMBER)
    def second(self, thread: str, mode: str, name: str, first: int, second: int) -> None:
        self.step(thread, "second", mode, name, first, second)

    @rule(
        thread=threads,
        mode=MODE,
        device=st.sampled_from(DEVICES),
        dtype=st.sampled_from([None, *DTYPES]),
        number=NUMBER,
    )
    def to(self, thread: str, mode: str, device: str, dtype: Any, number: int) -> None:
        self.step(thread, "to", mode, device, dtype, number)

    @rule(thread=threads, name=st.sampled_from(TYPES), number=NUMBER)
    def typed(self, thread: str, name: str, number: int) -> None:
        self.step(thread, "typed", "", name, number)

    @rule(thread=threads, first=NUMBER, second=NUMBER)
    def shared(self, thread: str, first: int, second: int) -> None:
        self.step(thread, "shared", "", first, second)

    @rule(thread=threads, number=NUMBER)
    def backward(self, thread: str, number: int) -> None:
        self.step(thread, "backward", "", number)

    @rule(thread=threads, output=NUMBER, of=NUMBER)
    def derivative(self, thread: str, output: int, of: int) -> None:
        self.step(thread, "derivative", "", output, of)

    @rule(thread=threads, number=NUMBER)
    def hook(self, thread: str, number: int) -> None:
        self.step(thread, "hook", "", number)

    @invariant()
    def every_tensor_is_where_the_model_says(self) -> None:
        if any(owner == "main" for owner, _ in self.blocks):
            assert [str(tensor.device) for tensor in self.twin.tensors] == self.twin.places

    def teardown(self) -> None:
        got = []
        self.late.submit(lambda: got.extend(map(self.twin.seen, range(len(self.twin.tensors))))).result()
        for _, block in self.blocks:
            block.__exit__(None, None, None)
        for thread in (self.early, self.late):
            thread.shutdown()
        plain = Twin(simulated=False)
        for step in self.steps:
            plain.do(*step)
        assert self.twin.log == plain.log, [
            pair for pair in zip(self.twin.log, plain.log, strict=False) if pair[0] != pair[1]
        ][:1]
        assert got == [plain.seen(number) for number in range(len(plain.tensors))]


def copied(tensor: Any, dtype: Any) -> Any:
    """What a move to another device gives: a copy, of which the gradient comes back as a copy."""
    copy = tensor.to(dtype, copy=True)
    if copy.grad_fn is not None:
        copy.grad_fn.register_hook(
            lambda grads, _: tuple(grad if grad is None else grad.to(grad.dtype, copy=True) for grad in grads)
        )
    return copy


def started() -> ThreadPoolExecutor:
    """A thread that runs from now on."""
    thread = ThreadPoolExecutor(1)
    thread.submit(int).result()
    return thread


Machine.TestCase.settings = settings(
    max_examples=EXAMPLES or 25,
    stateful_step_count=25,
    deadline=None,
    derandomize=not EXAMPLES,
    database=None,
    print_blob=False,
    suppress_health_check=[HealthCheck.too_slow],
)


@pytest.mark.filterwarnings("ignore")
class TestStateMachine(Machine.TestCase):  # type: ignore[name-defined, misc]
    """Collected by pytest."""

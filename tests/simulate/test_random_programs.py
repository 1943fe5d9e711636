"""Random programs over CPU and simulated CUDA tensors give what the CPU alone gives, each tensor where it belongs.

A program is a list of steps, and is run twice: on plain CPU tensors, where a model says on which device each
result would lie, and under the simulation. Values, dtypes, shapes, strides, gradients and errors must agree.
``SYNCSCAN_EXAMPLES=20000`` runs more of them, and others each time.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from syncscan.simulate.context import simulated_cuda  # noqa: E402

EXAMPLES = int(os.environ.get("SYNCSCAN_EXAMPLES", "0"))
DEVICES = ("cpu", "cuda:0", "cuda:1")
DTYPES = (torch.float32, torch.float64, torch.int64, torch.bool)
SHAPES = ((), (3,), (3, 3), (2, 3), (1, 3))

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
    "data": lambda x: x.data,
    "detached": lambda x: x.detach(),
    "double": lambda x: x.double(),
    "integer": lambda x: x.long(),
    "mask": lambda x: x > 0,
    "new": lambda x: x.new_zeros(2),
    "like": torch.ones_like,
    "taken": lambda x: x[torch.zeros(2, dtype=torch.int64)],  # an index on the CPU is allowed everywhere
    "parameter": lambda x: torch.nn.Parameter(x.detach().clone()),
    "added in place": lambda x: x.add_(1),
    "zeroed": lambda x: x.zero_(),
    "through a thread": lambda x: in_thread(lambda: x * 2),
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
}
# What takes operands of any device; the result lies with the first, or the second where that is said.
ACROSS: dict[str, Callable[[Any, Any], Any]] = {"copied": lambda a, b: a.copy_(b)}
TO_SECOND: dict[str, Callable[[Any, Any], Any]] = {
    "moved": lambda a, b: a.to(b),
    "typed": lambda a, b: a.type_as(b),
}

STEPS = st.one_of(
    st.tuples(
        st.just("make"),
        st.sampled_from(DEVICES),
        st.sampled_from(DTYPES),
        st.sampled_from(SHAPES),
        st.booleans(),
    ),
    st.tuples(st.just("one"), st.sampled_from(sorted(ONE)), st.integers(0, 9)),
    st.tuples(st.just("two"), st.sampled_from(sorted(TWO)), st.integers(0, 9), st.integers(0, 9)),
    st.tuples(st.just("across"), st.sampled_from(sorted(ACROSS)), st.integers(0, 9), st.integers(0, 9)),
    st.tuples(st.just("second"), st.sampled_from(sorted(TO_SECOND)), st.integers(0, 9), st.integers(0, 9)),
    st.tuples(st.just("to"), st.sampled_from(DEVICES), st.integers(0, 9)),
    st.tuples(st.just("backward"), st.integers(0, 9)),
)


def in_thread(call: Callable[[], Any]) -> Any:
    results: list[Any] = []

    def run() -> None:
        try:
            results.append((call(), None))
        except Exception as error:
            results.append((None, error))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    result, error = results[0]
    if error is not None:
        raise error
    return result


@dataclass
class Machine:
    """Runs a program; where tensors lie is read from them, or kept beside them where there is no GPU."""

    simulated: bool
    tensors: list[Any] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    log: list[Any] = field(default_factory=list)

    def run(self, program: list[tuple[Any, ...]]) -> list[Any]:
        for kind, *arguments in program:
            try:
                getattr(self, kind)(*arguments)
            except Exception as error:
                self.log.append(type(error).__name__)
        self.log += [self.seen(number) for number in range(len(self.tensors))]
        return self.log

    def keep(self, tensor: Any, place: str) -> None:
        self.tensors.append(tensor)
        self.places.append(place)
        self.log.append(self.seen(len(self.tensors) - 1))

    def seen(self, number: int) -> tuple[Any, ...]:
        tensor, place = self.tensors[number], self.places[number]
        facts = [tensor.dtype, tuple(tensor.shape), tensor.stride(), tensor.requires_grad, tensor.is_leaf]
        where = str(tensor.device) if self.simulated else place
        grad = tensor.grad if tensor.is_leaf else None
        if grad is not None:
            facts += [grad.tolist(), str(grad.device) if self.simulated else place]
        return (where, *facts, repr(tensor.tolist()))

    def pick(self, number: int) -> int:
        return number % len(self.tensors)

    def make(self, device: str, dtype: Any, shape: tuple[int, ...], with_grad: bool) -> None:
        values = torch.arange(1, 1 + torch.Size(shape).numel()).reshape(shape) % 5 - 1
        tensor = values.to(dtype).to(device if self.simulated else "cpu")
        self.keep(tensor.requires_grad_(with_grad and dtype.is_floating_point), device)

    def one(self, name: str, number: int) -> None:
        at = self.pick(number)
        self.keep(ONE[name](self.tensors[at]), self.places[at])

    def two(self, name: str, first: int, second: int) -> None:
        a, b = self.pick(first), self.pick(second)
        self.one_device(name, a, b)
        place = self.places[a] if self.places[a] != "cpu" else self.places[b]
        self.keep(TWO[name](self.tensors[a], self.tensors[b]), place)

    def one_device(self, name: str, a: int, b: int) -> None:
        """Raise where there is no GPU what there would be with one: operands on two devices."""
        if self.simulated or self.places[a] == self.places[b]:
            return
        scalar = next((n for n in (a, b) if self.places[n] == "cpu" and self.tensors[n].dim() == 0), None)
        if scalar is None or name not in {"added", "multiplied", "compared", "chosen"}:
            TWO[name](self.tensors[a], self.tensors[b])  # an error about shapes or dtypes comes first
            raise RuntimeError("two devices")

    def across(self, name: str, first: int, second: int) -> None:
        a, b = self.pick(first), self.pick(second)
        self.keep(ACROSS[name](self.tensors[a], self.tensors[b]), self.places[a])

    def second(self, name: str, first: int, second: int) -> None:
        a, b = self.pick(first), self.pick(second)
        self.keep(TO_SECOND[name](self.tensors[a], self.tensors[b]), self.places[b])

    def to(self, device: str, number: int) -> None:
        at = self.pick(number)
        moved = self.tensors[at].to(device if self.simulated else "cpu")
        if not self.simulated and self.places[at] != device:
            moved = self.tensors[at].to("cpu", copy=True)
        self.keep(moved, device)

    def backward(self, number: int) -> None:
        self.tensors[self.pick(number)].sum().backward(retain_graph=True)


@pytest.mark.filterwarnings("ignore")
@settings(
    max_examples=EXAMPLES or 30, deadline=None, derandomize=not EXAMPLES, database=None, print_blob=False
)
@given(st.lists(STEPS, min_size=2, max_size=14))
def test_a_random_program_gives_what_it_gives_on_the_cpu(program: list[tuple[Any, ...]]) -> None:
    expected = Machine(simulated=False).run(program)
    with simulated_cuda(devices=2):
        got = Machine(simulated=True).run(program)
    assert got == expected

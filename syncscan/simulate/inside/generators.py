"""``torch.Generator`` that may be asked for on CUDA. It draws from the CPU, and says of its state what one of CUDA says.

That is 16 bytes, as measured: a seed and an offset, which libraries with kernels of their own take apart and move on. Here
the offset stands for a state of the CPU's generator.
"""

from __future__ import annotations

import struct
from typing import Any

import torch

from .kinds import is_cuda_device
from .marks import without_functions

_STATE = struct.Struct("<QQ")
_MOVES_BY = 4  # numbers that a thread draws at once, of which an offset of CUDA is a multiple
_KEPT = 4096  # states, of 5 KB each


class _States:
    """Those of one generator, by the offset that stands for each."""

    def __init__(self, methods: Any, source: Any) -> None:
        self._methods, self._source = methods, source
        self._kept: dict[int, tuple[int, torch.Tensor]] = {}
        self._offset = 0

    def get(self) -> torch.Tensor:
        """Another offset than before where anything was drawn."""
        seed, state = self._now()
        with without_functions():
            before = self._kept.get(self._offset)
            if before is not None and (before[0] != seed or not torch.equal(before[1], state)):
                self._offset = max(self._kept) + _MOVES_BY
            self._keep(seed, state)
            return torch.frombuffer(bytearray(_STATE.pack(seed, self._offset)), dtype=torch.uint8)

    def set(self, state: torch.Tensor) -> None:
        """An offset that stands for nothing yet stands for what is drawn next; a state of the CPU's is taken too."""
        if state.numel() != _STATE.size:
            self._methods.set_state(self._source, state)
            return
        seed, self._offset = _STATE.unpack(bytes(state.tolist()))
        kept = self._kept.get(self._offset)
        if kept is not None and kept[0] == seed:
            self._methods.set_state(self._source, kept[1])
        elif seed != self._now()[0]:
            self._methods.manual_seed(self._source, seed)
        self._keep(*self._now())

    def _now(self) -> tuple[int, torch.Tensor]:
        return self._methods.initial_seed(self._source) % 2**64, self._methods.get_state(self._source)

    def _keep(self, seed: int, state: torch.Tensor) -> None:
        self._kept[self._offset] = seed, state
        if len(self._kept) > _KEPT:
            del self._kept[next(iter(self._kept))]


def make_generator(original: Any) -> type:
    """The class for both, of which every generator of the host is an instance too."""

    class Meta(type(original)):  # type: ignore[misc]  # a base that is known when it runs
        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, original)

    class Generator(original, metaclass=Meta):  # type: ignore[misc]  # the same
        def __new__(cls, device: Any = "cpu", source: Any = None) -> Any:
            if not is_cuda_device(device):
                return original(device)
            made = original.__new__(cls, "cpu")
            source = source or made
            made.__dict__.update(
                _place=torch.device(device), _source=source, _states=_States(original, source)
            )
            return made

        def __init__(self, device: Any = "cpu", source: Any = None) -> None:
            """Everything is done in ``__new__``."""

        @property
        def device(self) -> torch.device:
            place: torch.device = self.__dict__["_place"]
            return place

        def manual_seed(self, seed: int) -> Any:
            for generator in {self, self._source}:
                original.manual_seed(generator, seed)
            return self

        def initial_seed(self) -> int:
            return int(original.initial_seed(self._source))

        def seed(self) -> int:
            return int(original.seed(self._source))

        def get_state(self) -> torch.Tensor:
            state: torch.Tensor = self._states.get()
            return state

        def set_state(self, new_state: torch.Tensor) -> Any:
            self._states.set(new_state)
            return self

        def clone_state(self) -> Any:
            clone = Generator(self.device)
            original.set_state(clone, original.get_state(self._source))
            return clone

        def __reduce__(self) -> Any:
            return Generator, (self.device,), original.__reduce__(self)[2]

    Generator.__qualname__, Generator.__module__ = "Generator", "torch"
    return Generator

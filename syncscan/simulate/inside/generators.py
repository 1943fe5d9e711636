"""``torch.Generator`` on CUDA: draws from the CPU generator, with a state of the size and format of CUDA's.

Measured on CUDA, the state has 16 bytes: a seed and an offset. Libraries with their own kernels unpack and
advance it. In the simulation, the offset identifies a state of the CPU generator.
"""

from __future__ import annotations

import struct
from typing import Any

import torch

from .kinds import is_cuda_device
from .marks import without_functions
from .overridable import call_fitting
from .tracebacks import without_our_frames

_STATE = struct.Struct("<QQ")
_MOVES_BY = 4  # numbers that a CUDA thread draws at once; offsets are multiples of it
_MOST_STATES = 4096  # remembered by a generator, of 5 KB each


class _States:
    """The states of one generator by the seed and the offset that identify each."""

    def __init__(self, methods: Any, source: Any) -> None:
        self._methods, self._source = methods, source
        self._remembered: dict[tuple[int, int], torch.Tensor] = {}
        self._offset = 0

    def restart(self) -> None:
        """Begin at offset 0, after a new seed."""
        self._offset = 0
        self._remember(*self._now())

    def position(self) -> tuple[int, int]:
        """Return seed and offset; the offset differs from the previous one if the program drew numbers in between."""
        seed, state = self._now()
        with without_functions():
            before = self._remembered.get((seed, self._offset))
            if before is not None and not torch.equal(before, state):
                self._offset = max(offset for other, offset in self._remembered if other == seed) + _MOVES_BY
            self._remember(seed, state)
        return seed, self._offset

    def move(self, seed: int, offset: int) -> None:
        """Go to a position; a new offset identifies the state from which the program draws next."""
        self._offset = offset
        state = self._remembered.get((seed, offset))
        if state is not None:
            self._methods.set_state(self._source, state)
        elif seed != self._now()[0]:
            self._methods.manual_seed(self._source, seed)
        self._remember(*self._now())

    def get(self) -> torch.Tensor:
        """Return the state."""
        packed = bytearray(_STATE.pack(*self.position()))
        with without_functions():
            return torch.frombuffer(packed, dtype=torch.uint8)

    def set(self, state: torch.Tensor) -> None:
        """Set the state; states of CPU generators are valid too."""
        if state.numel() != _STATE.size:
            self._methods.set_state(self._source, state)
            return
        self.move(*_STATE.unpack(bytes(state.tolist())))

    def _now(self) -> tuple[int, torch.Tensor]:
        return self._methods.initial_seed(self._source) % 2**64, self._methods.get_state(self._source)

    def _remember(self, seed: int, state: torch.Tensor) -> None:
        """Remember the state of the current offset, and forget the oldest state where there are too many."""
        self._remembered[seed, self._offset] = state
        if len(self._remembered) > _MOST_STATES:
            oldest = next(iter(self._remembered))
            del self._remembered[oldest]


class _Positioned:
    """The part of a generator that its seed and offset answer."""

    _states: _States

    def get_state(self) -> torch.Tensor:
        return self._states.get()

    def set_state(self, new_state: torch.Tensor) -> Any:
        self._states.set(new_state)
        return self

    def get_offset(self) -> int:
        return self._states.position()[1]

    def set_offset(self, offset: int) -> Any:
        if offset % _MOVES_BY:
            raise RuntimeError(f"offset must be a multiple of {_MOVES_BY}")
        self._states.move(self._states.position()[0], offset)
        return self


def make_generator(original: Any) -> type:
    """Return a replacement for the class `torch.Generator`, of which all host generators are instances too."""

    class Meta(type(original)):  # type: ignore[misc]  # a base known only at run time
        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, original)

    class Generator(_Positioned, original, metaclass=Meta):  # type: ignore[misc]  # the same
        @without_our_frames
        def __new__(cls, *args: Any, **kwargs: Any) -> Any:
            return call_fitting(cls._make, original, args, kwargs)

        @classmethod
        def _make(cls, device: Any = "cpu", source: Any = None) -> Any:
            if not is_cuda_device(device):
                return original(device)
            made = original.__new__(cls, "cpu")
            source = source or made
            made.__dict__.update(
                _place=torch.device(device), _source=source, _states=_States(original, source)
            )
            return made

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            """Do nothing: ``__new__`` initialises the object."""

        @property
        def device(self) -> torch.device:
            place: torch.device = self.__dict__["_place"]
            return place

        def manual_seed(self, seed: int) -> Any:
            for generator in {self, self._source}:
                original.manual_seed(generator, seed)
            self._states.restart()
            return self

        def initial_seed(self) -> int:
            return int(original.initial_seed(self._source))

        def seed(self) -> int:
            return int(original.seed(self._source))

        def clone_state(self) -> Any:
            clone = Generator(self.device)
            original.set_state(clone, original.get_state(self._source))
            return clone

        def __reduce__(self) -> Any:
            return Generator, (self.device,), original.__reduce__(self)[2]

    Generator.__qualname__, Generator.__module__ = "Generator", "torch"
    return Generator

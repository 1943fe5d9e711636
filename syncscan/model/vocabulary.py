"""Enumerations of the vocabulary: devices, kinds, frequencies, confidence and severity.

They have a module of their own because a compiled module reads a member of an enumeration as fast as a constant.
"""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import Final


class Device(Enum):
    """The device of a value."""

    CUDA = "cuda"
    CPU = "cpu"
    OTHER = "other"  # meta, mps, xpu: known, and outside of syncscan's reports
    MIXED = "mixed"  # on the GPU on some paths, on the CPU on others
    UNKNOWN = "unknown"

    __hash__ = object.__hash__  # members are compared by identity; Enum's own hash is slow


class Kind(Enum):
    """The sort of a value, as far as synchronization is concerned."""

    UNKNOWN = "unknown"
    NONE = "none"
    NUMBER = "number"  # int, float, bool, complex, numpy scalar
    STRING = "string"
    TENSOR = "tensor"
    MOVED = "moved"  # the result of ``.to("cuda")`` on an unknown value: a tensor, a module or a batch
    NDARRAY = "ndarray"
    LIST = "list"
    TUPLE = "tuple"
    DICT = "dict"
    SET = "set"
    DEVICE = "device"
    DTYPE = "dtype"
    SLICE = "slice"
    INSTANCE = "instance"  # of a class of the project, or of torch (a stream, an event, a module)
    CLASS = "class"
    FUNCTION = "function"
    MODULE = "module"
    UNION = "union"

    __hash__ = object.__hash__


ZERO = "zero"  # the payload of a number that is 0 or 0.0: a sum begins so


class When(Enum):
    """The execution frequency of a line."""

    STEP = "step"  # for every step, request or batch
    UNKNOWN = "unknown"  # cannot be determined
    ONCE = "once"  # only where things are made, loaded, captured, saved or printed
    TEST = "test"  # in tests, benchmarks and examples


DEFAULT_WHEN: Final = (When.STEP, When.UNKNOWN)


class Confidence(IntEnum):
    """The evidence for the device of a value, weakest first; see ``docs/guide.md``."""

    POSSIBLE = 0  # nothing excludes it; for proofs alone
    ASSUMED = 1  # a convention alone: a use, a name
    DECLARED = 2  # a tensor by its annotation, placed by callers out of sight; a finding says `INFERRED` or `ASSUMED`
    INFERRED = 3  # followed through the project
    OBSERVED = 4  # seen while the project ran
    PROVED = 5  # a literal or a call decides it

    __hash__ = int.__hash__  # Enum's own hash is slow

    @property
    def label(self) -> str:
        """The word used in reports and options."""
        return self.name.lower()


# The levels of findings, weakest first; the others are levels of values within the inference.
REPORTED_CONFIDENCE: Final = (
    Confidence.ASSUMED,
    Confidence.INFERRED,
    Confidence.OBSERVED,
    Confidence.PROVED,
)


class Severity(IntEnum):
    """The weight of a finding: its name in the formats, and the threshold that fails a build."""

    NOTE = 1
    WARNING = 2
    ERROR = 3

    @property
    def label(self) -> str:
        """The word used in reports and options."""
        return self.name.lower()


ON_GPU: Final = frozenset({Device.CUDA, Device.MIXED})  # or maybe on the GPU
ARRAYS: Final = frozenset({Kind.TENSOR, Kind.NDARRAY})
MASKS: Final = frozenset({"bool", "uint8"})

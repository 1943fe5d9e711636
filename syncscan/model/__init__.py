"""The vocabulary that the detectors, the rules and the reports share: frozen records, no I/O.

Lines and columns are 1-based, and columns count characters. An end column is exclusive: the column just
after the last character.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from syncscan.errors import suggestion
from syncscan.model.vocabulary import (
    ARRAYS as ARRAYS,
)
from syncscan.model.vocabulary import (
    DEFAULT_WHEN as DEFAULT_WHEN,
)
from syncscan.model.vocabulary import (
    MASKS as MASKS,
)
from syncscan.model.vocabulary import (
    ON_GPU as ON_GPU,
)
from syncscan.model.vocabulary import (
    REPORTED_CONFIDENCE as REPORTED_CONFIDENCE,
)
from syncscan.model.vocabulary import (
    ZERO as ZERO,
)
from syncscan.model.vocabulary import (
    Confidence as Confidence,
)
from syncscan.model.vocabulary import (
    Device as Device,
)
from syncscan.model.vocabulary import (
    Kind as Kind,
)
from syncscan.model.vocabulary import (
    Severity as Severity,
)
from syncscan.model.vocabulary import (
    When as When,
)

HIDDEN_WAIT = "SYN501"  # a read of a property whose body blocks
SYNC_FREE = "SYN701"  # a cause of synchronization in a function declared free of them
UNUSED_SUPPRESSION = "SYN001"  # the code of the one rule that is about comments


def parse_when(words: Iterable[str]) -> tuple[When, ...]:
    """Return the times that words name, "all" for every time, in one order and once each; ValueError where a word names none."""
    named = list(words)
    valid = [*(each.value for each in When), "all"]
    for word in named:
        if word not in valid:  # the empty one too
            raise ValueError(f"{word!r} is no time; {suggestion(word, valid)}")
    return tuple(each for each in When if each.value in named or "all" in named)


@dataclass(frozen=True, slots=True)
class Conventions:
    """Shell patterns of names that say where a tensor lives; evidence of the weakest sort."""

    host_names: tuple[str, ...] = ("*_cpu", "*_np", "*_host", "*_cpu_*", "cpu_*", "*_pinned", "batch_sizes")
    gpu_names: tuple[str, ...] = ("*_gpu", "*_cuda")


@dataclass(frozen=True, slots=True)
class Evidence:
    """One step of the chain that explains a conclusion, the nearest first."""

    path: str
    line: int
    text: str
    parent: Evidence | None = None
    cell: int = 0  # of a notebook, counted from 1 over all its cells; the line is one of the cell

    @property
    def place(self) -> str:
        """The file, the cell and the line, as printed."""
        return f"{place_of(self.path, self.cell)}:{self.line}"

    def chain(self) -> tuple[Evidence, ...]:
        """Return this step and all steps before."""
        steps: list[Evidence] = []
        step: Evidence | None = self
        while step is not None:
            steps.append(step)
            step = step.parent
        return tuple(steps)


@dataclass(init=False, unsafe_hash=True, slots=True)
class Value:
    """The abstract value of one expression.

    ``dtype`` is "bool", "uint8", "int" (any other integer), "float" or None (unknown). ``ndim`` is the
    number of dimensions of a tensor or array, or None. ``payload`` belongs to the inference: a constant, a class, a
    function, a module. ``items`` holds the elements of a tuple of known length, or the options of
    a union. ``element`` is the join of the elements of a container. ``count`` is the largest number of elements
    of a tensor, if the source shows one.

    A value never changes. Only the types say so: a guard at run time takes longer than the rest of the constructor.
    """

    kind: Final[Kind]
    device: Final[Device]
    confidence: Final[Confidence]
    pinned: Final[bool | None]
    dtype: Final[str | None]
    ndim: Final[int | None]
    payload: Final[object]
    items: Final[tuple[Value, ...] | None]
    element: Final[Value | None]
    count: Final[int | None]
    evidence: Final[Evidence | None] = field(compare=False)

    def __init__(
        self,
        kind: Kind,
        device: Device = Device.UNKNOWN,
        confidence: Confidence = Confidence.PROVED,
        pinned: bool | None = None,
        dtype: str | None = None,
        ndim: int | None = None,
        payload: object = None,
        items: tuple[Value, ...] | None = None,
        element: Value | None = None,
        evidence: Evidence | None = None,
        count: int | None = None,
    ) -> None:
        self.kind = kind
        self.device = device
        self.confidence = confidence
        self.pinned = pinned
        self.dtype = dtype
        self.ndim = ndim
        self.payload = payload
        self.items = items
        self.element = element
        self.count = count
        self.evidence = evidence  # type: ignore[misc]  # the field() above counts as a value

    @property
    def options(self) -> tuple[Value, ...]:
        """The alternatives of a union other than None, see `without_zero`; a plain value is its own only option."""
        if self.kind is not Kind.UNION:
            return (self,)
        return without_zero([option for option in self.items or () if option.kind is not Kind.NONE])

    @property
    def is_gpu(self) -> bool:
        """A tensor on the GPU: on every path, or at least on some."""
        if self.kind is Kind.TENSOR:
            return self.device in ON_GPU
        return self.kind is Kind.UNION and bool(self.options) and all(o.is_gpu for o in self.options)

    @property
    def is_cpu_tensor(self) -> bool:
        """Surely a tensor in host memory."""
        if self.kind is Kind.TENSOR:
            return self.device is Device.CPU
        return self.kind is Kind.UNION and bool(self.options) and all(o.is_cpu_tensor for o in self.options)

    @property
    def is_mask(self) -> bool:
        """A tensor or array that selects where it is used as an index: of dtype bool or uint8."""
        return bool(self.options) and all(o.dtype in MASKS and o.kind in ARRAYS for o in self.options)

    @property
    def is_host_data(self) -> bool:
        """Surely in host memory: a number, a list of numbers, an array, a CPU tensor."""
        return bool(self.options) and all(_is_host_option(o) for o in self.options)


def without_zero(options: Sequence[Any]) -> tuple[Any, ...]:
    """Return the alternatives of a union without the zero with which a sum of GPU tensors begins, as in ``total = 0.0``.

    The alternatives are values of the vocabulary, or abstract ones.
    """
    others = [option for option in options if not is_zero(option)]
    on_gpu = others and all(each.kind is Kind.TENSOR and each.device in ON_GPU for each in others)
    return tuple(others if on_gpu else options)


def is_zero(value: Any) -> bool:
    """Return whether a value is the number 0 or 0.0."""
    is_number: bool = value.kind is Kind.NUMBER and value.dtype != "bool"
    return is_number and value.payload in {0, ZERO}


def _is_host_option(value: Value) -> bool:
    if value.kind is Kind.TENSOR:
        return value.device is Device.CPU
    if value.kind in {Kind.LIST, Kind.TUPLE}:
        inside = value.items if value.items is not None else (value.element,)
        return all(item is None or item.kind is Kind.UNKNOWN or item.is_host_data for item in inside)
    return value.kind in {Kind.NUMBER, Kind.NDARRAY}


UNKNOWN = Value(Kind.UNKNOWN)


class Applicability(Enum):
    """The conditions under which a fix is right."""

    SAFE = "safe"  # same result in every case
    UNSAFE = "unsafe"  # same result in the cases that the rule's page names
    NONE = "none"  # advice only


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text from (line, column) up to (end_line, end_column) by ``text``."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """A rewrite without the synchronization; no edits where the applicability is NONE.

    The description is the suggestion for the place. ``change`` describes the edits, where the suggestion is more than an edit can do.
    """

    applicability: Applicability
    description: str
    edits: tuple[Edit, ...] = ()
    change: str = ""

    @property
    def in_words(self) -> str:
        """Return a description of the edits."""
        return self.change or self.description


@dataclass(frozen=True, slots=True)
class Finding:
    """One expression that blocks the CPU until the GPU has finished, in the terms of the output contract."""

    code: str
    name: str
    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    function: str
    expression: str
    message: str
    confidence: Confidence
    when: When = When.UNKNOWN
    call_chain: tuple[str, ...] = ()  # through which a step reaches the finding
    entry_point: str = ""  # the start of that chain, as the setting `hot` names it
    evaluation: bool = False  # runs where a model is evaluated, exported or debugged, and nowhere else
    switch: str = ""  # such as `self.use_cache`, or an option: its default keeps the line from running, and no code changes the default
    conditional: bool = False  # behind an `if` of its function
    follows: int = (
        0  # the line of a synchronization before, with no work launched on the GPU since; 0 for none
    )
    evidence: tuple[Evidence, ...] = ()
    passed_too: tuple[Evidence, ...] = ()  # where else the value is passed to the function
    fix: Fix = Fix(Applicability.NONE, "")
    cell: int = 0  # of a notebook, as that of evidence; so are the lines of its edits
    brought_by: str = (
        ""  # in a check of a change: the changed file that caused the synchronization, if it is another file
    )

    @property
    def unit(self) -> str:
        """The file, or the cell of a notebook, as printed."""
        return place_of(self.path, self.cell)

    @property
    def hot(self) -> bool:
        """True if the frequency of the finding is per step: an entry point reaches its line."""
        return self.when is When.STEP

    @property
    def rate(self) -> str:
        """Return the words that reports put before the call chain of a finding with frequency `step`."""
        return (
            "reached from an entry point of evaluation" if self.evaluation else "reached from an entry point"
        )

    @property
    def severity(self) -> Severity:
        """Return "error" for a finding of every step and "note" for one of no step; a mere name counts one level less."""
        if self.code == UNUSED_SUPPRESSION:
            return Severity.WARNING
        if self.when in {When.ONCE, When.TEST}:
            return Severity.NOTE
        certain = self.confidence > Confidence.ASSUMED
        if self.when is When.STEP:
            return Severity.ERROR if certain else Severity.WARNING
        return Severity.WARNING if certain else Severity.NOTE

    @property
    def position(self) -> tuple[str, int, int, int, str]:
        """The order of reports."""
        return (self.path, self.cell, self.line, self.column, self.code)


@dataclass(frozen=True, slots=True)
class Suppressed:
    """A finding that a comment suppresses, and the comment's reason, or ""."""

    finding: Finding
    reason: str


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason for which a file, as printed, could not be analysed; line 0 where no single line is to blame.

    ``partial`` says that only one function of the file could not be analysed. ``python`` is the newer version
    of Python that could have parsed the file, if any.
    """

    path: str
    line: int
    message: str
    partial: bool = False
    python: str = ""
    cell: int = 0  # of a notebook

    @property
    def place(self) -> str:
        """The file, the cell and the line, as printed."""
        unit = place_of(self.path, self.cell)
        return f"{unit}:{self.line}" if self.line else unit


def place_of(path: str, cell: int) -> str:
    """Return a file, or a cell of a notebook, as printed."""
    return f"{path}:cell {cell}" if cell else path

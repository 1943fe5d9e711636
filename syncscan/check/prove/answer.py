"""The answer of a proof, as its readers know it: without the engine."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from syncscan.model import Failure, Finding


class Group(Enum):
    """The certainty that an obstacle blocks."""

    SYNCHRONIZES = "synchronizes"
    MAY = "may synchronize"
    UNKNOWN = "unknown callee"

    __hash__ = object.__hash__


@dataclass(frozen=True, slots=True)
class NamedObstacle:
    """An obstacle as it is reported: the place with the chain of calls to it, the group, and what would exclude it."""

    finding: Finding
    group: Group
    fact: str


@dataclass(frozen=True, slots=True)
class Certificate:
    """The proof of an entry point, or the obstacles to it."""

    entry_point: str
    functions: int
    obstacles: tuple[NamedObstacle, ...]
    assumptions: tuple[str, ...]
    failures: tuple[Failure, ...] = ()  # files that could not be analysed, and may hold anything
    known: int = 0  # in the baseline
    gone: int = 0

    @property
    def is_proved(self) -> bool:
        """Return whether nothing keeps the entry point from being free of synchronization."""
        return not self.obstacles and not self.known and not self.failures

    def count(self, group: Group) -> int:
        """Return how many obstacles are of a group."""
        return sum(each.group is group for each in self.obstacles)

"""The spread of steps, which separates a change from noise."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass
class Spread:
    """A quantity over the steps of one process: in how many, its sum over them, and its standard deviation."""

    steps: int
    total: float = 0.0
    deviation: float = 0.0

    def add(self, total: float, squares: float) -> None:
        """Add one part of the quantity, by its sum and the sum of its squares over the steps.

        The parts may come and go together, so their deviations are added: the truth is that or less.
        """
        self.total += total
        if self.steps:
            mean = total / self.steps
            self.deviation += math.sqrt(max(squares / self.steps - mean * mean, 0.0))


def pooled(spreads: Iterable[Spread]) -> float:
    """Return the standard deviation over the steps of all the processes together."""
    parts = [spread for spread in spreads if spread.steps]
    steps = sum(part.steps for part in parts)
    if not steps:
        return 0.0
    mean = sum(part.total for part in parts) / steps
    within = sum(part.steps * part.deviation**2 for part in parts)
    between = sum(part.steps * (part.total / part.steps - mean) ** 2 for part in parts)
    return math.sqrt((within + between) / steps)

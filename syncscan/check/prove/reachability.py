"""The functions that an entry point reaches, and the shortest chain of calls to each function."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping

from syncscan.check.infer.source.index import Function
from syncscan.check.prove.prover import Prover
from syncscan.check.prove.walk import Obstacle, Walk

Chain = tuple[Function, ...]


class Reached:
    """The functions that an entry point reaches, the nearest first; of equal ones those of the first path and line."""

    def __init__(self, prover: Prover, entry: Function, ran: Ran | None = None) -> None:
        self.entry = entry
        self.walks: dict[Function, Walk] = {}
        self._by: dict[Function, Function | None] = {entry: None}
        queue = deque([entry])
        while queue:
            function = queue.popleft()
            walk = prover.walk(function)
            assert walk is not None
            self.walks[function] = walk
            for callee in sorted(walk.calls, key=_order):
                if ran is not None and not any(ran.has(function, line) for line in walk.call_lines[callee]):
                    continue
                if callee not in self._by:
                    self._by[callee] = function
                    queue.append(callee)

    def chain(self, function: Function) -> Chain:
        """Return the calls from the entry point to a function, both among them."""
        found, at = [function], self._by[function]
        while at is not None:
            found.append(at)
            at = self._by[at]
        return tuple(reversed(found))

    def obstacles(self) -> Iterator[tuple[Function, Obstacle]]:
        """Yield the obstacles of all functions that are reached."""
        for function, walk in self.walks.items():
            for obstacle in walk.obstacles.values():
                yield function, obstacle


class Ran:
    """The lines that ran, by file."""

    def __init__(self, lines: Mapping[str, set[int]]) -> None:
        self._lines = lines

    def has(self, function: Function, first: int, last: int = 0) -> bool:
        """Return whether any of some lines of a function ran."""
        ran = self._lines.get(function.module.path, set())
        return any(line in ran for line in range(first, max(first, last) + 1))


def _order(function: Function) -> tuple[str, int, str]:
    return function.module.path, getattr(function.node, "lineno", 0), function.qualname

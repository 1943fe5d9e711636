"""The functions that an entry point reaches, and the shortest chain of calls to each function."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from syncscan.check.infer.source.index import Function
from syncscan.check.prove.prover import Prover
from syncscan.check.prove.walk import Obstacle, Walk

Chain = tuple[Function, ...]


class Reached:
    """The functions that an entry point reaches, the nearest first; of equal ones those of the first path and line."""

    def __init__(self, prover: Prover, entry: Function) -> None:
        self.entry = entry
        self.walks: dict[Function, Walk] = {}
        self._by: dict[Function, Function | None] = {entry: None}
        queue = deque([entry])
        while queue:
            function = queue.popleft()
            walk = prover.walk(function)
            assert walk is not None
            self.walks[function] = walk
            for callee in sorted(
                _callees(prover, function, walk),
                key=lambda each: (each.module.path, prover.line(each), each.qualname),
            ):
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


def _callees(prover: Prover, function: Function, walk: Walk) -> set[Function]:
    """Return the functions that a function may call; with a trace, only functions that ran."""
    ran = prover.ran
    found = {
        callee
        for callee, lines in walk.call_lines.items()
        if ran.may_reach(callee) and any(ran.has(function, line) for line in lines)
    }
    return found.union(ran.reached(function, prover.source.by_code)) if ran.knows_calls else found

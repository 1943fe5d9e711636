"""Cycles of nodes that read one another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

T = TypeVar("T")


def lowest(reads: Mapping[T, set[T]], lacks: Callable[[T], bool]) -> tuple[set[T], list[T]]:
    """Return the nodes whose values are final, and the nodes that lack a value in the lowest cycles that hold any."""
    final, lacking, waiting = set[T](), list[T](), set[T]()
    for cycle in cycles(reads):
        below = {each for node in cycle for each in reads[node]}
        found = [node for node in cycle if lacks(node)] if below.isdisjoint(waiting) else cycle
        if not found:
            final.update(cycle)
            continue
        waiting.update(cycle)
        if found is not cycle:
            lacking += found
    return final, lacking


def cycles(reads: Mapping[T, set[T]]) -> Iterator[list[T]]:
    """Yield the strongly connected components of a graph, each after those that it reads (Tarjan)."""
    numbers: dict[T, int] = {}
    lows: dict[T, int] = {}
    open_nodes: list[T] = []
    is_open = set[T]()
    for start in reads:
        if start in numbers:
            continue
        path: list[tuple[T, Iterator[T]]] = []
        enters: T | None = start
        while enters is not None or path:
            if enters is not None:
                numbers[enters] = lows[enters] = len(numbers)
                open_nodes.append(enters)
                is_open.add(enters)
                path.append((enters, iter(reads[enters])))
            node, rest = path[-1]
            enters = None
            for each in rest:
                if each in numbers:
                    if each in is_open:
                        lows[node] = min(lows[node], numbers[each])
                elif each in reads:
                    enters = each
                    break
            if enters is None:
                path.pop()
                if path:
                    lows[path[-1][0]] = min(lows[path[-1][0]], lows[node])
                if lows[node] == numbers[node]:
                    yield _closed(node, open_nodes, is_open)


def _closed(root: T, open_nodes: list[T], is_open: set[T]) -> list[T]:
    """Take the component of a root off the open nodes."""
    found: list[T] = []
    while not found or found[-1] != root:
        found.append(open_nodes.pop())
        is_open.discard(found[-1])
    return found

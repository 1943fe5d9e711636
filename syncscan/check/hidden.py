"""Properties whose bodies synchronize: an attribute read that looks free blocks the CPU."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from syncscan.check.frequency.calls import Called, called_name
from syncscan.check.frequency.regions import Region, regions_of
from syncscan.check.infer.solve.record import Waits
from syncscan.check.infer.solve.solver import Solver
from syncscan.check.infer.source.index import Function, Virtual
from syncscan.check.match import Matcher, Placed
from syncscan.model import Confidence, Device, Evidence, Finding, Kind, Value, When
from syncscan.rule import rule_book

# The largest number of calls between a property and the blocking line.
_DEEPEST = 3

Direct = dict[Function, Placed | None]  # the first finding of the highest confidence in a function's own body


def waiting_properties(solver: Solver, matcher: Matcher, direct: Direct) -> Waits:
    """Return a GPU value for each property of the project whose body blocks; its evidence leads to the blocking line.

    ``direct`` caches the findings in the bodies of the functions searched.
    """
    search = _Search(solver, matcher, direct)
    properties = [function for function in solver.functions() if function.is_property]
    found = {function: search.wait_of(function, _DEEPEST) for function in properties}
    return {function: wait for function, wait in found.items() if wait is not None}


class _Search:
    def __init__(self, solver: Solver, matcher: Matcher, direct: Direct) -> None:
        self._solver = solver
        self._matcher = matcher
        self._direct = direct
        self._known: dict[tuple[Function | Virtual, int], Value | None] = {}

    def wait_of(self, function: Function | Virtual, depth: int) -> Value | None:
        """Return the value on which a function blocks, itself or through at most ``depth`` intermediate calls; else None."""
        key = function, depth
        if key not in self._known:
            self._known[key] = self._wait_of(function, depth)
        return self._known[key]

    def _wait_of(self, function: Function | Virtual, depth: int) -> Value | None:
        if isinstance(function, Virtual):
            return _of_any([self.wait_of(method, depth) for method in function.methods()])
        if function.is_cached_property:  # it blocks its first reader only
            return None
        finding = self._finding_in(function)
        if finding is not None:
            return _leading_to(finding)
        for callee in self._solver.known.run_by(function) if depth else ():
            wait = self.wait_of(callee, depth - 1)
            if wait is not None and not _is_called_once(function, callee):
                return _called(function, callee.name, wait)
        return None

    def _finding_in(self, function: Function) -> Finding | None:
        """Return the first finding of the highest confidence in a function's own body, without what blocks the first call alone."""
        if function not in self._direct:
            statements = self._solver.statements(function) if function in self._solver.known.may_block else {}
            found = self._matcher.findings_in(statements, function)
            once = _run_once(function) if found.placed else []
            waits = [
                each
                for each in found.placed
                if rule_book()[each.finding.code].is_wait
                and not any(each.finding.line in region.lines for region in once)
            ]
            self._direct[function] = max(waits, key=lambda each: each.finding.confidence, default=None)
        surest = self._direct[function]
        return surest.finding_now(follows=False) if surest is not None else None


def _run_once(function: Function) -> list[Region]:
    """Return the regions of a function that run in its first call alone: ``if self._x is None: self._x = ...``."""
    return [region for region in regions_of(function) if region.when is When.ONCE]


def _is_called_once(caller: Function, callee: Called) -> bool:
    return any(called_name(callee) in region.calls for region in _run_once(caller))


def _of_any(waits: Sequence[Value | None]) -> Value | None:
    """Return the blocking value of a call to one of several methods, or None unless all methods block."""
    return None if None in waits else next(iter(waits), None)


def _called(function: Function, name: str, wait: Value) -> Value:
    """Return the blocking value of a callee with one more step of evidence: ``function`` calls or reads ``name``."""
    lines = [
        node.lineno
        for node in ast.walk(function.node)
        if isinstance(node, (ast.Name, ast.Attribute))
        and name == getattr(node, "attr", getattr(node, "id", ""))
    ]
    line = min(lines, default=getattr(function.node, "lineno", 1))
    text = f"`{function.qualname}` calls `{name}`"
    return replace(wait, evidence=Evidence(function.module.path, line, text, wait.evidence))


def _leading_to(finding: Finding) -> Value:
    evidence: Evidence | None = None
    for step in reversed(finding.evidence):
        evidence = Evidence(step.path, step.line, step.text, evidence)
    text = f"`{' '.join(finding.expression.split())}` in `{finding.function}` blocks"
    confidence = min(finding.confidence, Confidence.INFERRED)
    return Value(
        Kind.TENSOR,
        Device.CUDA,
        confidence,
        evidence=Evidence(finding.path, finding.line, text, evidence),
    )

"""The answer of a proof: that an entry point is free of synchronization under the assumptions, or the obstacles."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from syncscan.check.files import Source
from syncscan.check.infer.source.index import Function
from syncscan.check.nesting import deep_recursion
from syncscan.check.prove import everything as _everything  # noqa: F401 (it fills tables)
from syncscan.check.prove.answer import Certificate, Group, NamedObstacle
from syncscan.check.prove.assumptions import Assumptions
from syncscan.check.prove.frame import place_of
from syncscan.check.prove.kept import take_walks
from syncscan.check.prove.prover import Prover
from syncscan.check.prove.ran import Ran, RunSeen
from syncscan.check.prove.reachability import Reached
from syncscan.check.prove.source import Solved
from syncscan.check.prove.walk import Obstacle, SourceRange, Walk
from syncscan.check.suppress import Suppression, find_suppressions
from syncscan.errors import ConfigError, suggestion
from syncscan.model import SYNC_FREE, Applicability, Confidence, Failure, Finding, Fix, When

NAME = "sync-free"
# The premises of every proof, of any entry point; docs/proved.md explains each.
STANDING = (
    "annotations hold, and callers outside of the project pass what they say",
    "tensors that name no device are on the CPU: no caller sets a default device",
    "no tensor is sparse, unless the project makes sparse ones",
    "other packages run no code of the GPU in operators, attributes and destructors",
)
_OF_CORRECTNESS = ("SYN0", "SYN6", SYNC_FREE)  # codes of findings that synchronize nothing


class Proofs:
    """The proofs of one project that has been checked."""

    def __init__(
        self,
        solver: Solved,
        findings: Iterable[Finding],
        sources: Iterable[Source],
        assumptions: Sequence[str] = (),
        run: RunSeen | None = None,
        failures: Iterable[Failure] = (),
        kept: Sequence[bytes | None] | None = None,
    ) -> None:
        """Take what `walks` of an earlier proof returned, or None where nothing is to be kept."""
        self._failures = tuple(failures)
        ran = Ran(run)
        with deep_recursion():
            self._definitions, (mine, plain) = take_walks(solver, kept or (None, None), ran)
        self._assumptions = Assumptions.of(assumptions)
        self._assumptions.check(self._definitions)
        keeps = kept is not None
        self._prover = Prover(self._definitions, self._assumptions, ran, mine, keeps=keeps)
        # The obstacles without assumptions.
        self._plain = Prover(self._definitions, Assumptions(), ran, plain, keeps=keeps)
        self._texts = {source.shown: source.text for source in sources}
        self._suppressions: dict[str, list[Suppression]] = {}
        self._run = run
        self._found: dict[tuple[str, str], list[Finding]] = {}
        for finding in findings:
            if not finding.code.startswith(_OF_CORRECTNESS):
                self._found.setdefault((finding.path, finding.function), []).append(finding)

    def functions(self, module: str) -> list[str]:
        """Return the functions of a module that may be entry points; none of a stand-in for torch, which no name means."""
        found = self._definitions.program.modules.get(module)
        return [] if found is None else [each.qualname for each in found.functions if each is not found.body]

    def contracts(self, named: Sequence[str]) -> list[str]:
        """Return the entry points that are to be free of synchronization: those with the comment, and those named."""
        found = dict.fromkeys(named)
        for module in self._definitions.modules:
            if _WORD in module.lines.text:
                found.update(dict.fromkeys(_with_comment(module.functions, self._of(module.path))))
        return list(found)

    def certify(self, entry_point: str) -> Certificate:
        """Return the certificate of an entry point; ConfigError where there is no such function."""
        module, _, name = entry_point.partition(":")
        function = self._definitions.entry(module, name)
        if function is None:
            raise ConfigError(f"{entry_point!r}: {self._why_not(module, name)}")
        with deep_recursion():
            reached = Reached(self._prover, function)
            obstacles, allowed = self._obstacles(reached, entry_point)
        assumed = dict.fromkeys(STANDING)
        for walk in reached.walks.values():
            assumed.update(walk.assumed)
        assumed.update(dict.fromkeys(sorted(allowed)))
        assumed.update(self._prover.used)
        return Certificate(entry_point, len(reached.walks), tuple(obstacles), tuple(assumed), self._failures)

    def walks(self) -> bytes | None:
        """Return the walks for a later proof; None where they are kept already."""
        with deep_recursion():
            return self._prover.data()

    def plain_walks(self) -> bytes | None:
        """Return the walks without assumptions in the same way."""
        with deep_recursion():
            return self._plain.data()

    def violations(self, entry_point: str) -> Iterator[Finding]:
        """Yield what a function reaches that is to be free of synchronization; comments about that suppress it later."""
        module, _, name = entry_point.partition(":")
        function = self._definitions.entry(module, name)
        if function is None:
            raise ConfigError(f"sync-free: {entry_point!r}: {self._why_not(module, name)}")
        for each in self._all(Reached(self._prover, function), entry_point):
            if self._reason(each) is None or self._reason(each, of_contracts=True) is not None:
                yield replace(
                    each.finding,
                    code=SYNC_FREE,
                    name=NAME,
                    message=f"{each.finding.message}; `{entry_point}` is declared sync-free",
                    when=When.STEP,
                    fix=Fix(Applicability.NONE, each.fact),
                )

    def _why_not(self, module: str, name: str) -> str:
        found = self._definitions.program.modules.get(module)
        if any(each.name == module for each in self._definitions.modules) and found is None:
            return f"{module!r} stands in for a package of the operation table, which no proof follows"
        if found is None:
            return f"no module {module!r} was read; {suggestion(module, self._definitions.program.modules)}"
        if any(each.qualname == name for each in found.classes):
            return f"{module}: {name!r} is a class; write it as {module}:{name}.METHOD"
        names = [function.qualname for function in found.functions]
        return (
            f"{module} has no function {name!r}; {suggestion(name, names, 'write it as MODULE:Class.method')}"
        )

    def _of(self, path: str) -> list[Suppression]:
        if path not in self._suppressions:
            self._suppressions[path] = find_suppressions(self._texts.get(path, ""))
        return self._suppressions[path]

    def _obstacles(self, reached: Reached, entry_point: str) -> tuple[list[NamedObstacle], set[str]]:
        """Return the obstacles, the surest first, and the places allowed with a reason."""
        found, allowed = list[NamedObstacle](), set[str]()
        for each in self._all(reached, entry_point):
            reason = self._reason(each)
            if self._run is not None and not _touches(each.finding, self._run.ran):
                continue
            if reason is None:
                found.append(self._as_seen(each))
            else:
                place = f"{each.finding.path}:{each.finding.line}"
                allowed.add(f"{place} may synchronize: {reason or 'no reason is given'}")
        found += self._contradicted(reached, entry_point, found)
        groups = list(Group)
        found.sort(
            key=lambda each: (
                groups.index(each.group),
                len(each.finding.call_chain),
                each.finding.position,
            )
        )
        return found, allowed

    def _contradicted(
        self, reached: Reached, entry_point: str, found: Iterable[NamedObstacle]
    ) -> Iterator[NamedObstacle]:
        """Yield the lines of reached functions that synchronized in the run although an assumption excludes that."""
        if self._run is None or not self._assumptions.given:
            return
        named = {
            (each.finding.path, line)
            for each in found
            for line in range(each.finding.line, each.finding.end_line + 1)
        }
        for function in reached.walks:
            path = function.module.path
            for each in self._plain.walk(function).obstacles.values():
                lines = {*range(each.place.line, each.place.end_line + 1)}
                seen = lines & self._run.synchronized.get(path, set())
                if seen and not any((path, line) in named for line in seen):
                    chain = tuple(one.qualname for one in reached.chain(function))
                    finding = replace(
                        _finding(each, chain, entry_point),
                        message=f"the run synchronized here, which an assumption excludes: {each.reason}",
                        confidence=Confidence.OBSERVED,
                    )
                    yield NamedObstacle(finding, Group.SYNCHRONIZES, "take the assumption out")
                    named |= {(path, line) for line in seen}

    def _all(self, reached: Reached, entry_point: str) -> Iterator[NamedObstacle]:
        for function, walk in reached.walks.items():
            chain = tuple(each.qualname for each in reached.chain(function))
            key = (function.module.path, function.qualname)
            findings = [each for each in self._found.get(key, ()) if not self._is_excluded(function, each)]
            for finding in findings:
                sure = finding.confidence > Confidence.ASSUMED
                named = replace(finding, call_chain=chain, entry_point=entry_point)
                fact = finding.fix.description
                yield NamedObstacle(named, Group.SYNCHRONIZES if sure else Group.MAY, fact)
            for obstacle in walk.obstacles.values():
                if obstacle.group is Group.UNKNOWN or not any(
                    _holds(each, obstacle.place) for each in findings
                ):
                    yield NamedObstacle(_finding(obstacle, chain, entry_point), obstacle.group, obstacle.fact)

    def _is_excluded(self, function: Function, finding: Finding) -> bool:
        """Return whether a finding is of a call that the run left out, or an obstacle without the assumptions only."""
        if self._run is not None and self._is_left_out(function, finding):
            return True
        if not self._assumptions.given:
            return False
        before, after = self._plain.walk(function), self._prover.walk(function)
        assert before is not None
        assert after is not None
        return _names(before, finding) and not _names(after, finding)

    def _is_left_out(self, function: Function, finding: Finding) -> bool:
        calls = [each for each in ast.walk(function.node) if isinstance(each, ast.Call)]
        ran, module = self._prover.ran, function.module
        return any(
            ran.never_called(module, each)
            for each in calls
            if each.lineno == finding.line and _is_at(place_of(module, each), finding)
        )

    def _reason(self, each: NamedObstacle, *, of_contracts: bool = False) -> str | None:
        """Return the reason of a comment, or of a contract, that allows an obstacle; None where neither does."""
        finding = each.finding
        named = SYNC_FREE if of_contracts else finding.code
        for comment in self._of(finding.path):
            touches = comment.first <= finding.end_line and finding.line <= comment.last
            if comment.verb in {"ignore", "file-ignore"} and touches and comment.codes:
                is_named = any(named.startswith(code) for code in comment.codes)
                is_alike = each.group is Group.MAY and comment.verb == "ignore" and not of_contracts
                if is_named or is_alike:
                    return comment.reason
        return None

    def _as_seen(self, each: NamedObstacle) -> NamedObstacle:
        """Return an obstacle with the confidence that a run supports."""
        if self._run is None or not _touches(each.finding, self._run.synchronized):
            return each
        observed = max(each.finding.confidence, Confidence.OBSERVED)
        return replace(each, finding=replace(each.finding, confidence=observed), group=Group.SYNCHRONIZES)


_WORD = "sync-free"


def _with_comment(functions: Iterable[Function], comments: Iterable[Suppression]) -> Iterator[str]:
    """Yield the functions that a comment declares free of synchronization."""
    marks = [comment for comment in comments if comment.verb == _WORD]
    for function in functions:
        decorators = getattr(function.node, "decorator_list", [])
        line = getattr(function.node, "lineno", 0)
        first = min([line, *(each.lineno for each in decorators)])
        if any(mark.first <= last and first <= mark.last for mark in marks for last in (line,)):
            yield f"{function.module.name}:{function.qualname}"


def _touches(finding: Finding, lines: Mapping[str, set[int]]) -> bool:
    known = lines.get(finding.path, set())
    return any(line in known for line in range(finding.line, finding.end_line + 1))


def _names(walk: Walk, finding: Finding) -> bool:
    """Return whether a walk has an obstacle in the range of a finding, or around it."""
    start, end = (finding.line, finding.column), (finding.end_line, finding.end_column)
    return any(
        (place.line, place.column) < end and start < (place.end_line, place.end_column)
        for place, group in walk.obstacles
        if group is Group.MAY
    )


def _is_at(place: SourceRange, finding: Finding) -> bool:
    """Return whether a place is that of a finding."""
    start, end = (finding.line, finding.column), (finding.end_line, finding.end_column)
    return (place.line, place.column) == start and (place.end_line, place.end_column) == end


def _holds(finding: Finding, place: SourceRange) -> bool:
    """Return whether a finding is about a place, or about something around it."""
    start, end = (finding.line, finding.column), (finding.end_line, finding.end_column)
    return start <= (place.line, place.column) and (place.end_line, place.end_column) <= end


def _finding(obstacle: Obstacle, chain: tuple[str, ...], entry_point: str) -> Finding:
    place = obstacle.place
    return Finding(
        code=SYNC_FREE,
        name=NAME,
        path=place.path,
        line=place.line,
        column=place.column,
        end_line=place.end_line,
        end_column=place.end_column,
        function=obstacle.function,
        expression=obstacle.expression,
        message=obstacle.reason,
        confidence=Confidence.POSSIBLE,
        call_chain=chain,
        entry_point=entry_point,
        fix=Fix(Applicability.NONE, obstacle.fact),
    )

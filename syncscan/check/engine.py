"""Sources to findings: index, infer, match. Knows no file system and no terminal."""

from __future__ import annotations

import ast
import gc
import sys
import warnings
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from syncscan.check.defects import defect, failure_of
from syncscan.check.files import Failure, Source
from syncscan.check.hidden import waiting_properties
from syncscan.check.hot import Chains, call_chains
from syncscan.check.infer.index import Module, index_module
from syncscan.check.infer.solver import Solver
from syncscan.check.match import Matcher
from syncscan.config import Conventions
from syncscan.model import Finding
from syncscan.ops import load_table
from syncscan.rule import rule_book

# What a source may nest; CPython's own parser stops at about the same depth.
_RECURSION_LIMIT = 10_000


@dataclass(slots=True)
class CheckResult:
    """What was found, and which files could not be analysed."""

    findings: list[Finding] = field(default_factory=list)
    failed: list[Failure] = field(default_factory=list)


def check_sources(
    sources: Sequence[Source],
    targets: Container[str] | None,
    conventions: Conventions,
    progress: Callable[[str, int, int], None],
    jobs: int = 0,  # noqa: ARG001
    hot: Sequence[str] = (),
) -> CheckResult:
    """Check a whole project, and report on the files named in ``targets`` (as shown), or on all.

    ``hot`` names the entry points of a step, see `syncscan.check.hot`. ``progress`` is called with the name of a stage, how much of it is done, and of how much.
    """
    result = CheckResult()
    with _steady_memory(), _deep_recursion():
        modules = list(_modules(sources, result.failed, progress))
        solver = Solver(modules, load_table(), conventions)
        solver.solve(progress)
        chains = call_chains(modules, hot)
        result.findings.extend(_findings(solver, chains, targets, progress))
    result.failed.extend(failure_of(function, error) for function, error in solver.defects.items())
    result.findings.sort(key=lambda finding: finding.position)
    return result


def _modules(
    sources: Sequence[Source], failed: list[Failure], progress: Callable[[str, int, int], None]
) -> Iterator[Module]:
    for done, source in enumerate(sources):
        progress("read", done, len(sources))
        module = _module(source)
        if isinstance(module, Failure):
            failed.append(module)
        else:
            yield module


def _module(source: Source) -> Module | Failure:
    """Parse and index a file, or say why that fails."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in the user's code are not our subject
            tree = ast.parse(source.text)
    except (SyntaxError, ValueError) as error:
        message = error.msg if isinstance(error, SyntaxError) else str(error)
        return Failure(source.shown, getattr(error, "lineno", 0) or 0, f"syntax error: {message}")
    except (RecursionError, MemoryError):
        return Failure(source.shown, 0, "nested too deeply to be analysed")
    is_package = source.path.stem == "__init__"
    try:
        return index_module(source.module, source.shown, tree, source.text.split("\n"), is_package=is_package)
    except RecursionError:
        return Failure(source.shown, 0, "nested too deeply to be analysed")
    except Exception as error:
        return Failure(source.shown, 0, defect(error))


def _findings(
    solver: Solver,
    chains: Chains,
    targets: Container[str] | None,
    progress: Callable[[str, int, int], None],
) -> Iterator[Finding]:
    matcher = Matcher(list(rule_book().values()), solver.defects)
    waits = waiting_properties(solver, matcher)
    for done, module in enumerate(solver.modules):
        progress("match", done, len(solver.modules))
        if targets is not None and module.path not in targets:
            continue
        for function in list(module.functions):
            if function.may_block or not waits.keys().isdisjoint(function.callees):
                chain = chains.get(function, ())
                for finding in matcher.findings_in(solver.candidates(function, waits), function):
                    yield replace(finding, hot=bool(chain), call_chain=chain)


@contextmanager
def _steady_memory() -> Iterator[None]:
    """Without the cyclic collector: a syntax tree has millions of nodes, and none of them is garbage."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def _deep_recursion() -> Iterator[None]:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _RECURSION_LIMIT))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)

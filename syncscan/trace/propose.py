"""Proposes what may be the step of a program that was traced without one: the function that a loop calls."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from syncscan.trace.sites import Sources, in_torch, phase_of
from syncscan.trace.store import Frame, Process

_LEAST_CALLS = 3
_MOST_STACKS = 500  # the sites with the most synchronizations; each may name files to read
_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


@dataclass
class _Candidate:
    """A function that is called in a loop, at least ``calls`` times."""

    target: str
    path: str
    line: int  # of the loop's call
    waits: int = 0
    calls: int = 0
    depth: int = 0  # from the outermost frame


def propose_step(processes: Sequence[Process], sources: Sources) -> dict[str, Any] | None:
    """Return the outermost function that a loop calls and that has most synchronizations below; None without such a function.

    Nobody counted the calls of a function. A synchronization below it, and in no loop below it, was made at most once
    per call. So a function without such a synchronization is no step, such as an epoch with all of them in its batches.
    """
    in_loop = cache(lambda path: _LoopLines(sources.read(path)))
    found: dict[str, _Candidate] = {}
    stacks = [
        (wait.count, wait.frames, process)
        for process in processes
        for wait in process.waits
        if wait.frames and phase_of(wait) == "outside"
    ]
    stacks.sort(key=lambda stack: -stack[0])
    total = sum(count for count, _, _ in stacks)
    for count, frames, process in stacks[:_MOST_STACKS]:
        seen = set()
        for one, once in _called_in_loops(frames, process, in_loop):
            candidate = found.setdefault(one.target, one)
            if one.target not in seen:
                seen.add(one.target)
                candidate.waits += count
            if once:
                candidate.calls = max(candidate.calls, count)
    fit = [one for one in found.values() if one.calls >= _LEAST_CALLS and 2 * one.waits >= total]
    best = min(fit, key=lambda one: one.depth, default=None)
    if best is None:
        return None
    return {"target": best.target, "waits": best.waits, "path": best.path, "line": best.line}


def _called_in_loops(
    frames: Sequence[Frame], process: Process, in_loop: Any
) -> Iterator[tuple[_Candidate, bool]]:
    """Yield the callees in loops on a stack, the innermost first, and whether no loop lies below."""
    torch_folder = process.torch.get("folder", "")
    once = True
    for index, (callee, caller) in enumerate(pairwise(frames)):
        once = once and not in_loop(callee.path).has(callee.line)
        if in_torch(callee.path, torch_folder) or "<" in callee.function:
            continue
        if in_loop(caller.path).has(caller.line):
            target = f"{_module(callee.path, process.argv)}:{callee.function}"
            yield _Candidate(target, caller.path, caller.line, depth=len(frames) - index), once


class _LoopLines:
    """The lines of a source that stand in a loop of their function."""

    def __init__(self, source: str) -> None:
        try:
            tree: ast.AST = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError):
            tree = ast.Module([], [])
        self._spans = list(_spans(ast.walk(tree)))
        self.has = cache(self._has)

    def _has(self, line: int) -> bool:
        around = [span for span in self._spans if span[0] <= line <= span[1]]
        return bool(around) and min(around, key=lambda span: span[1] - span[0])[2]


def _spans(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, int, bool]]:
    """Yield (first line, last line, whether it is a loop) of each loop and function."""
    for node in nodes:
        if isinstance(node, (*_LOOPS, *_FUNCTIONS)):
            body = getattr(node, "body", None)
            first = body[0].lineno if isinstance(body, list) else node.lineno
            yield first, node.end_lineno or first, isinstance(node, _LOOPS)


def _module(path: str, argv: Sequence[str]) -> str:
    """Return the module of a file, as `--step` names it."""
    if _is_started(Path(path), argv):
        return "__main__"
    file = Path(path).with_suffix("")
    names = [file.name]
    for folder in file.parents:
        if not (folder / "__init__.py").exists():
            break
        names.insert(0, folder.name)
    return ".".join(names[:-1] if len(names) > 1 and names[-1] == "__init__" else names)


def _is_started(path: Path, argv: Sequence[str]) -> bool:
    """Return whether a command line starts a file: as `python FILE`, or as `python -m MODULE`."""
    words = iter(argv[1:])
    for word in words:
        if word in {"-W", "-X"}:
            next(words, None)
        elif word == "-m":
            module = tuple(next(words, "").split("."))
            file = path.parent if path.name == "__main__.py" else path.with_suffix("")
            return file.parts[-len(module) :] == module
        elif word == "-c" or not word.startswith("-"):
            return path.name == Path(word).name
    return False

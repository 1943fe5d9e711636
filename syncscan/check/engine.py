"""Provisional engine: `.item()` on names that a literal `device="cuda"` put on the GPU."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass

from syncscan.check.files import Failure, Source
from syncscan.config import Conventions
from syncscan.model import Applicability, Confidence, Evidence, Finding, Fix


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What the engine found."""

    findings: list[Finding]
    failed: list[Failure]


def check_sources(
    sources: Sequence[Source],
    targets: Container[str] | None,
    conventions: Conventions,  # noqa: ARG001
    progress: Callable[[str, int, int], None],
    jobs: int = 0,  # noqa: ARG001
) -> CheckResult:
    """Check sources."""
    result = CheckResult([], [])
    for done, source in enumerate(sources):
        progress("analyse", done, len(sources))
        if targets is None or source.shown in targets:
            try:
                tree = ast.parse(source.text)
            except SyntaxError as error:
                result.failed.append(Failure(source.shown, error.lineno or 0, f"syntax error: {error.msg}"))
                continue
            result.findings.extend(_check(source, tree))
    return result


def _check(source: Source, tree: ast.Module) -> list[Finding]:
    gpu: dict[str, int] = {}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Call)
            and isinstance(node.targets[0], ast.Name)
            and any(k.arg == "device" and ast.unparse(k.value) == "'cuda'" for k in node.value.keywords)
        ):
            gpu[node.targets[0].id] = node.lineno
    found = []
    for node in ast.walk(tree):
        if not (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "item"
        ):
            continue
        roots = [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and n.id in gpu]
        if not roots:
            continue
        found.append(
            Finding(
                "SYN101",
                "item-read",
                source.shown,
                node.lineno,
                node.col_offset + 1,
                node.end_lineno or 0,
                (node.end_col_offset or 0) + 1,
                "",
                ast.get_source_segment(source.text, node) or "",
                "`.item()` copies a number from the GPU and waits for it",
                Confidence.PROVED,
                evidence=(Evidence(source.shown, gpu[roots[0]], f"`{roots[0]}` is created on the GPU"),),
                fix=Fix(Applicability.NONE, "keep the number on the GPU"),
            )
        )
    return found

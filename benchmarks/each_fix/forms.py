"""The source of a file in which each line with a fix runs in both forms."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from syncscan.check.fix import apply_edits
from syncscan.model import Finding

_CALL = "__import__('both_forms').{name}({number}, {held}lambda: ({old}), lambda: ({new}))"
# The forms run as lambdas, whose scope differs from that of the line in these.
_OWN_SCOPE = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)

Span = tuple[int, int]


def with_both(text: str, findings: Sequence[tuple[int, Finding]]) -> tuple[str, list[int]]:
    """Return the text with both forms at the place of each fix, and the numbers of the fixes for which that is possible."""
    tree, starts = ast.parse(text), _line_starts(text)
    nodes = [
        (_span(node, text, starts), node) for node in ast.walk(tree) if isinstance(node, (ast.expr, ast.stmt))
    ]
    taken: list[tuple[Span, str]] = []
    numbers = []
    for number, finding in findings:
        wanted = _wanted(finding, starts)
        around = [(span, node) for span, node in nodes if span[0] <= wanted[0] and wanted[1] <= span[1]]
        span, node = min(around, key=lambda each: each[0][1] - each[0][0], default=((0, 0), None))
        written = _written(text, node, span, number, finding)
        if written and not any(start < span[1] and span[0] < end for (start, end), _ in taken):
            taken.append((span, written))
            numbers.append(number)
    for (start, end), new in sorted(taken, reverse=True):
        text = text[:start] + new + text[end:]
    return text, numbers


def _written(text: str, node: ast.AST | None, span: Span, number: int, finding: Finding) -> str:
    """Return the code that runs both forms of a node; "" where lambdas cannot stand for them."""
    fixed = apply_edits(text, [finding])
    old, new = text[span[0] : span[1]], fixed[span[0] : span[1] + len(fixed) - len(text)]
    if node is None or "super()" in old or any(isinstance(part, _OWN_SCOPE) for part in ast.walk(node)):
        return ""
    if isinstance(node, ast.expr):
        return _CALL.format(name="value", number=number, held="", old=old, new=new)
    if not isinstance(node, ast.Assign) or not isinstance(target := node.targets[0], ast.Subscript):
        return ""
    parts = [ast.unparse(each) for each in (target.value, target.slice, node.value)]
    try:
        ast.parse(new, mode="eval")
    except SyntaxError:
        return ""
    stored = f"({parts[0]}).__setitem__({_index(target.slice)}, {parts[2]})"
    return _CALL.format(name="stored", number=number, held=f"{parts[0]}, ", old=stored, new=new)


def _index(node: ast.expr) -> str:
    """Return an index as an expression; slices are written as `slice`."""
    if isinstance(node, ast.Slice):
        bounds = (ast.unparse(each) if each else "None" for each in (node.lower, node.upper, node.step))
        return f"slice({', '.join(bounds)})"
    if isinstance(node, ast.Tuple):
        return f"({''.join(f'{_index(each)}, ' for each in node.elts)})"
    return ast.unparse(node)


def _wanted(finding: Finding, starts: list[int]) -> Span:
    spans = [finding, *finding.fix.edits]
    return (
        min(starts[each.line - 1] + each.column - 1 for each in spans),
        max(starts[each.end_line - 1] + each.end_column - 1 for each in spans),
    )


def _line_starts(text: str) -> list[int]:
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    return starts


def _span(node: ast.expr | ast.stmt, text: str, starts: list[int]) -> Span:
    def offset(line: int, column: int) -> int:
        start = starts[line - 1]
        return start + len(text[start : starts[line]].encode()[:column].decode())

    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return offset(node.lineno, node.col_offset), offset(node.end_lineno, node.end_col_offset)

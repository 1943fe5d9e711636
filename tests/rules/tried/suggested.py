"""Suggestions that show code, over operands that their lines admit: each statement and the form that the finding shows."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from hypothesis import strategies as st
from syncscan.rules._suggestions import TABLE

from syncscan.model import Finding
from tests.rules.tried.templates import Case
from tests.rules.tried.trial import HEAD, Fixed
from tests.texts import check_texts

_CODE = re.compile(r"`([^`]*)`")


@dataclass(frozen=True)
class Shown:
    """The kind of node that the code of a suggestion replaces, the index of a subscript; ``mark`` is a part of the code."""

    place: type[ast.expr] | type[ast.stmt]
    mark: str
    cases: st.SearchStrategy[Case]


def suggested(row: str, shown: Shown, cases: Sequence[Case]) -> list[Fixed]:
    """Return the cases for which the check shows the code of a row, and each statement with that code in its place."""
    functions = [_copying(case).function(f"case_{number}") for number, case in enumerate(cases)]
    result = check_texts(HEAD + "".join(functions))
    assert not result.failed, result.failed
    found = {each.line: each for each in result.findings if TABLE[row].is_in(each.fix.description)}
    return list(_with_code(shown, cases, functions, found))


def _copying(case: Case) -> Case:
    """Return a case whose result has memory of its own: a view may stand for a copy, and strides may differ."""
    return replace(case, body=f"{case.body}; y = y.clone(memory_format=torch.contiguous_format)")


def _with_code(
    shown: Shown, cases: Sequence[Case], functions: Sequence[str], found: dict[int, Finding]
) -> Iterator[Fixed]:
    line = HEAD.count("\n")
    for case, function in zip(cases, functions, strict=True):
        finding = found.get(line + 2)
        line += function.count("\n")
        if finding is not None:
            codes = [code for code in _CODE.findall(finding.fix.description) if shown.mark in code]
            before = function.partition("def calls_")[0]
            yield Fixed(case, before, _placed(before, finding, codes[0], shown), is_safe=False)


def _placed(function: str, finding: Finding, code: str, shown: Shown) -> str:
    """Return a function of one line with other code in place of an expression, or of the statement around it."""
    lines = function.splitlines(keepends=True)
    start, end = finding.column - 1, finding.end_column - 1
    inside = [
        each
        for each in ast.walk(ast.parse(function))
        if isinstance(each, shown.place) and each.lineno == 2 and each.col_offset <= start < _end(each)
    ]
    around = min((each for each in inside if end <= _end(each)), key=_length)
    if shown.place is ast.Subscript and isinstance(around, ast.Subscript):
        around = around.slice.elts[0] if isinstance(around.slice, ast.Tuple) else around.slice
    start, end = around.col_offset, _end(around)
    lines[1] = lines[1][:start] + code + lines[1][end:]
    return "".join(lines)


def _end(node: ast.expr | ast.stmt) -> int:
    return node.end_col_offset or 0


def _length(node: ast.expr | ast.stmt) -> int:
    return _end(node) - node.col_offset


def _on_gpu(form: str, dtypes: Sequence[str], **parts: Sequence[str]) -> st.SearchStrategy[str]:
    return st.fixed_dictionaries(
        {name: st.sampled_from(texts) for name, texts in {"dtype": dtypes, **parts}.items()}
    ).map(lambda chosen: form.format(**chosen))


_NUMBERS = ["float32", "float64", "float16", "bfloat16", "int64", "int32", "uint8"]
_EXACT = ["int64", "int32", "uint8"]
_ROWS = "torch.arange(4, device='cuda').to(torch.{dtype}){view}"
_GRID = "torch.arange(12, device='cuda').reshape(4, 3).to(torch.{dtype}){view}"
_GRADIENTS = st.sampled_from(["(torch.ones(4, device='cuda', requires_grad=True) * 2)"])
_rows = _on_gpu(_ROWS, _NUMBERS, view=["", " * 1", ".flip(0)"])
_grids = _on_gpu(_GRID, _NUMBERS, view=["", " * 2", ".flip(1)"])
_bits = st.lists(st.booleans(), min_size=4, max_size=4)
_scalars = _on_gpu(
    "torch.tensor({number}, device='cuda').to(torch.{dtype})", _NUMBERS, number=["0", "1", "3"]
)
_truths = st.sampled_from(["torch.tensor(True, device='cuda')", "torch.tensor(False, device='cuda')"])


def _mask(bits: Sequence[bool]) -> str:
    return f"torch.tensor({list(bits)}, device='cuda')"


@st.composite
def _masked(draw: st.DrawFn, body: str, tensors: st.SearchStrategy[str]) -> Case:
    """A statement over a tensor `v` and a mask `w`, whose number of true elements is `n`."""
    bits = draw(_bits)
    operands = (draw(tensors), _mask(bits))
    return Case("mask", f"w = w > 0; n = {sum(bits)}; {body}", operands)


@st.composite
def _plain(draw: st.DrawFn, body: str, *operands: st.SearchStrategy[str]) -> Case:
    return Case("gpu tensor", body, tuple(draw(each) for each in operands))


@st.composite
def _same(draw: st.DrawFn, body: str) -> Case:
    """A statement over two tensors of one dtype and shape."""
    dtype, form = draw(st.sampled_from(_NUMBERS)), draw(st.sampled_from([_ROWS, _GRID]))
    first = form.format(dtype=dtype, view="")
    return Case(
        "gpu tensors", body, (first, form.format(dtype=dtype, view=draw(st.sampled_from(["", ".flip(0)"]))))
    )


_KEPT = "y = v * 1; "  # a store leaves the operand as it was
SHOWN: dict[str, Shown] = {
    "masked-where": Shown(
        ast.stmt,
        "copy_",
        st.one_of(_masked(_KEPT + "y[w] = (y * 2)[w]", _rows), _masked(_KEPT + "y[w] = y.max()", _rows)),
    ),
    "masked-result": Shown(ast.stmt, "copy_", _masked(_KEPT + "y[w] = y[w] * 2 - 1", _rows)),
    "masked-change": Shown(ast.stmt, "torch.where", _masked(_KEPT + "y[w] += y.max()", _rows)),
    "masked-scatter": Shown(
        ast.stmt, "masked_scatter_", _masked(_KEPT + "y[w] = torch.arange(n, device='cuda').to(y.dtype)", _rows)
    ),
    "masked-sum": Shown(ast.expr, "torch.where", _masked("y = v[w].sum()", _on_gpu(_ROWS, _EXACT, view=[""]))),
    "distinct-count": Shown(
        ast.BinOp, "torch.diff", _plain("y = torch.as_tensor(0 + len(torch.unique(v)), device='cuda')", st.one_of(_rows, _grids, _on_gpu(_ROWS + " // 2", _EXACT, view=[""])))
    ),
    "fill-element": Shown(ast.stmt, "fill_", _plain("n = 3; " + _KEPT + "y[w] = n", _rows, st.sampled_from(["0", "2", "-1"]))),
    "fill-rows": Shown(
        ast.stmt, "index_fill_", _plain("n = 3; " + _KEPT + "y[w] = n", _grids, _on_gpu("torch.tensor({rows}, device='cuda', dtype=torch.{dtype})", ["int64", "int32"], rows=["[1, 0]", "[2]", "[1, 1]"]))
    ),
    "index": Shown(ast.expr, "squeeze", _plain("y = v[w]", _grids, _on_gpu("torch.tensor({row}, device='cuda', dtype=torch.{dtype})", ["int64", "int32"], row=["1", "0", "-1"]))),
    "one-row": Shown(ast.expr, "view(1)", _plain("y = v[w:w + 1]", _grids, _on_gpu("torch.tensor({row}, device='cuda', dtype=torch.{dtype})", ["int64", "int32"], row=["1", "0"]))),
    "slice": Shown(ast.Subscript, ":", st.one_of(_plain("y = v[[1, 2]] * 1", _grids), _plain("y = v[[0, 2]] * 1", _grids), _plain("y = v[[-3, -1]] * 1", _grids))),
    "choose": Shown(ast.IfExp, "torch.where", st.one_of(_same("y = v if (v > 2).any() else w"), _same("y = v if not (v > 2).any() else w"))),
    "max-number": Shown(ast.expr, "clamp", _plain("y = torch.as_tensor(max(v, 2), dtype=v.dtype, device='cuda')", _scalars)),
    "min-number": Shown(ast.expr, "clamp", _plain("y = torch.as_tensor(min(2, v), dtype=v.dtype, device='cuda')", _scalars)),
    "max-of-one": Shown(ast.expr, ".max()", _plain("y = max(v)", _rows)),
    "min-of-one": Shown(ast.expr, ".min()", _plain("y = min(v)", _rows)),
    "combine": Shown(ast.BoolOp, "&", _plain("y = v and w.any()", _truths, _bits.map(_mask))),
    "range": Shown(ast.expr, "torch.arange", _plain("y = torch.as_tensor(range(v, 0, -1), device='cuda')", st.sampled_from(["3", "1"]))),
    "made-with-device": Shown(ast.expr, "device=", _plain("y = torch.zeros(v, 2).view(2, -1).to('cuda')", st.sampled_from(["1", "4"]))),
    "number": Shown(ast.expr, "full", _plain("y = torch.ones(1, device='cuda').new_tensor([v])", st.sampled_from(["3", "0.5", "-1"]))),
    "list": Shown(ast.expr, "pin_memory", st.one_of([_plain(body, st.sampled_from(["3", "0.5", "-1"])) for body in ("y = torch.as_tensor([v, 2], device='cuda')", "y = torch.ones(1, device='cuda').new_tensor([v, 2])")])),
}  # fmt: skip

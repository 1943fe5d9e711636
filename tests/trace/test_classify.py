"""The rule code of an expression that blocked."""

from __future__ import annotations

import ast

import pytest

from syncscan.trace.classify import classify

PRELUDE = (
    "import torch\nimport numpy as np\nimport torch.nn.functional as F\nfrom torch import unique as uniq\n"
)
SYNC = "cudaStreamSynchronize"

CASES = [
    ("y = t.sum().item()", "t.sum().item()", f"{SYNC}:out", "SYN101"),
    ("y = self.buffer.tolist()", "self.buffer.tolist()", f"{SYNC}:out", "SYN102"),
    ("y = int(n)", "int(n)", f"{SYNC}:out", "SYN103"),
    ("if t > 0: pass", "t > 0", f"{SYNC}:out", "SYN104"),
    ("while flag: pass", "flag", f"{SYNC}:out", "SYN104"),
    ("assert t.all()", "t.all()", f"{SYNC}:out", "SYN104"),
    ("y = 5 in t", "5 in t", f"{SYNC}:out", "SYN104"),
    ("y = min(5, t)", "min(5, t)", f"{SYNC}:out", "SYN104"),
    ("y = t.cpu()", "t.cpu()", f"{SYNC}:out", "SYN105"),
    ("y = x[:n]", "x[:n]", f"{SYNC}:out", "SYN106"),
    ("y = x[idx]", "x[idx]", f"{SYNC}:out", "SYN106"),
    ("for i in range(n): pass", "range(n)", f"{SYNC}:out", "SYN106"),
    ("y = torch.arange(n)", "torch.arange(n)", f"{SYNC}:out", "SYN106"),
    ("print(f'{t}')", "{t}", f"{SYNC}:out", "SYN107"),
    ("y = x[mask]", "x[mask]", f"{SYNC}:out", "SYN201"),
    ("x[mask] = y", "x[mask]", f"{SYNC}:out", "SYN201"),
    ("y = torch.nonzero(m)", "torch.nonzero(m)", f"{SYNC}:out", "SYN202"),
    ("y = t.masked_select(m)", "t.masked_select(m)", f"{SYNC}:out", "SYN203"),
    ("y = uniq(t)", "uniq(t)", SYNC, "SYN204"),
    ("y = torch.repeat_interleave(t, r)", "torch.repeat_interleave(t, r)", f"{SYNC}:out", "SYN205"),
    ("y = F.one_hot(t)", "F.one_hot(t)", f"{SYNC}:out", "SYN206"),
    (
        "y = torch.tensor([1, 2], device='cuda')",
        "torch.tensor([1, 2], device='cuda')",
        f"{SYNC}:in",
        "SYN301",
    ),
    ("y = h.to('cuda')", "h.to('cuda')", f"{SYNC}:in", "SYN302"),
    ("y = h.cuda(non_blocking=True)", "h.cuda(non_blocking=True)", "cudaMemcpyAsync:in", "SYN303"),
    ("h.copy_(t, non_blocking=True)", "h.copy_(t, non_blocking=True)", "cudaMemcpyAsync:out", "SYN304"),
    ("y = x[[1, 2]]", "x[[1, 2]]", f"{SYNC}:in", "SYN305"),
    ("y = x[idx]", "x[idx]", f"{SYNC}:in", "SYN305"),
    ("x[idx] = 0.0", "x[idx]", f"{SYNC}:in", "SYN306"),
    ("x[:, 0] = row", "x[:, 0]", f"{SYNC}:in", "SYN307"),
    ("x[mask] = y = u", "x[mask]", f"{SYNC}:out", "SYN201"),
    ("y = x[mask] = u", "x[mask]", f"{SYNC}:out", "SYN201"),
    ("y = x[idx] = 0.0", "x[idx]", f"{SYNC}:in", "SYN306"),
    ("x[i] = -1.5", "x[i]", f"{SYNC}:in", "SYN306"),
    ("y = x[-n]", "x[-n]", f"{SYNC}:out", "SYN106"),
    ("y = x[(1, 2), (3, 4)]", "x[(1, 2), (3, 4)]", f"{SYNC}:in", "SYN305"),
    ("y = x['a'].item()", "x['a'].item()", f"{SYNC}:out", "SYN101"),
    ("y = h.to(device='cuda')", "h.to(device='cuda')", f"{SYNC}:in", "SYN302"),
    ("y = t.to('cpu')", "t.to('cpu')", f"{SYNC}:out", "SYN105"),
    ("y = t.to('cpu', non_blocking=False)", "t.to('cpu', non_blocking=False)", f"{SYNC}:out", "SYN105"),
    ("y = torch.full((2,), n, device='cuda')", "torch.full((2,), n, device='cuda')", f"{SYNC}:out", "SYN106"),
    ("y = torch.cat([t, h])", "torch.cat([t, h])", f"{SYNC}:in", None),
    ("torch.cuda.synchronize()", "torch.cuda.synchronize()", "cudaDeviceSynchronize", "SYN401"),
    ("event.synchronize()", "event.synchronize()", "cudaEventSynchronize", "SYN401"),
    ("self.stream.synchronize()", "self.stream.synchronize()", SYNC, "SYN401"),
    ("y = torch.linalg.inv(t)", "torch.linalg.inv(t)", f"{SYNC}:out", "SYN502"),
    ("y = t.item()", "t.item()", "debug-mode", "SYN101"),
]


@pytest.mark.parametrize(("statement", "expression", "api", "code"), CASES)
def test_the_code_follows_from_the_expression_and_the_call(statement, expression, api, code):
    column = statement.index(expression) + 1
    place = (5, column, 5, column + len(expression))
    assert classify(PRELUDE + statement + "\n", *place, api) == code


@pytest.mark.parametrize(
    ("function", "method"),
    [
        ("torch.Tensor.index_select(t, 0, i)", "t.index_select(0, i)"),
        ("torch.Tensor.copy_(h, t, non_blocking=True)", "h.copy_(t, non_blocking=True)"),
        ("torch.Tensor.item(t)", "t.item()"),
    ],
)
def test_a_method_called_as_a_function_has_the_code_of_the_method(function, method):
    codes = [classify(f"{PRELUDE}{call}\n", 5, 1, 5, len(call) + 1, SYNC) for call in (function, method)]
    assert codes[0] == codes[1]


def test_without_columns_the_line_decides():
    source = "def f(t):\n    y = 1 + t.sum().item()\n"
    assert classify(source, 2, None, None, None, SYNC) == "SYN101"


def test_an_expression_over_several_lines():
    source = "y = (\n    t\n    .sum()\n    .item()\n)\n"
    assert classify(source, 2, 5, 4, 12, SYNC) == "SYN101"


@pytest.mark.parametrize("source", ["", "y = 1\n", "def broken(:\n", "y = compute(t)\n"])
def test_what_no_rule_explains_has_no_code(source):
    assert classify(source, 1, 5, 1, 6, SYNC) is None


def test_the_places_of_the_cases_are_those_of_the_interpreter():
    """Each expression of the table above is one that the interpreter can name."""
    for statement, expression, _, _ in CASES:
        if not expression.startswith("{"):
            assert ast.parse(expression, mode="eval").body is not None, statement


@pytest.mark.parametrize("text", ["a" + ".b" * 5000, "(" * 200_000, "-" * 200_000 + "1", "if 1:\n" * 5000])
def test_a_source_that_python_cannot_read_has_no_code(text):
    """It may have been changed since the program ran; the parser of the rules would crash the process."""
    assert classify(text, 1, 0, 1, 1, SYNC) is None


def test_a_source_with_an_invalid_escape_warns_of_nothing(recwarn):
    assert classify("x = '\\d'\nt.item()\n", 2, 1, 2, 9, f"{SYNC}:out") == "SYN101"
    assert not recwarn.list


def test_without_columns_what_stands_first_and_is_smallest_decides():
    source = "import torch\ny = t.item() + int(\n    n)\n"
    assert classify(source, 2, None, None, None, f"{SYNC}:out") == "SYN101"


def test_the_smallest_expression_at_a_place_decides_and_none_beyond_its_statement():
    source = "if t.any():\n    y = compute(u)\n"
    assert classify(source, 2, 9, 2, 19, f"{SYNC}:out") is None
    assert classify(source, 1, 4, 1, 11, f"{SYNC}:out") == "SYN104"

"""The rule code of an expression that blocked."""

from __future__ import annotations

import ast

import pytest

from syncscan.model import Device, Kind
from syncscan.ops import load_table
from syncscan.rule import rule_book
from syncscan.trace.classify import RuntimeFacts, classify, explain
from syncscan.trace.parsed import ParsedModule

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
    ("y = f'step {int(n)}'", "int(n)", f"{SYNC}:out", "SYN103"),
    ("y = f'{a} and {t.sum().item():.2f}'", "t.sum().item()", f"{SYNC}:out", "SYN101"),
    ("y = f'step {t}'", "f'step {t}'", f"{SYNC}:out", "SYN107"),
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
    ("x[0], n = row, 3", "x[0]", f"{SYNC}:in", "SYN307"),
    ("x[0, 0], n = 8.0, row", "x[0, 0]", f"{SYNC}:in", "SYN306"),
    ("n, (*rest, x[0, 0]) = 3, numbers", "x[0, 0]", f"{SYNC}:in", "SYN306"),
    ("for x[0, 0] in numbers: pass", "x[0, 0]", f"{SYNC}:in", "SYN306"),
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
OUT, IN = f"{SYNC}:out", f"{SYNC}:in"
MORE = [
    ('y = x[0, i]', 'x[0, i]', OUT, 'SYN106'),
    ('y = x[lens[row]]', 'x[lens[row]]', OUT, 'SYN106'),
    ('y = x[lens[2]]', 'x[lens[2]]', OUT, 'SYN106'),
    ('y = x[row, self.lens[row - 1]]', 'x[row, self.lens[row - 1]]', OUT, 'SYN106'),
    ('y = x[masks[row]]', 'x[masks[row]]', OUT, 'SYN201'),
    ('y = x[valid[row]]', 'x[valid[row]]', OUT, 'SYN201'),
    ('y = torch.nn.Parameter(t).item()', 'torch.nn.Parameter(t).item()', OUT, 'SYN101'),
    ("y = x[table['keep']]", "x[table['keep']]", OUT, 'SYN201'),
    ('y = x[seen[1:]]', 'x[seen[1:]]', OUT, 'SYN201'),
    ('y = x[i, mask]', 'x[i, mask]', OUT, 'SYN201'),
    ('y = x[mask, i]', 'x[mask, i]', OUT, 'SYN201'),
    ('y = x[idx2]', 'x[idx2]', OUT, 'SYN106'),
    ('y = x[self.pos]', 'x[self.pos]', OUT, 'SYN106'),
    ('y = x[positions]', 'x[positions]', OUT, 'SYN201'),
    ('y = x[last_idx]', 'x[last_idx]', OUT, 'SYN106'),
    ('y = x[mask]', 'x[mask]', SYNC, 'SYN201'),
    ('y = x[i]', 'x[i]', SYNC, 'SYN106'),
    ('y = x[i]', 'x[i]', IN, 'SYN305'),
    ('y = x[1]', 'x[1]', OUT, None),
    ("y = x['k']", "x['k']", OUT, None),
    ('y = x[None]', 'x[None]', OUT, None),
    ('y = x[True]', 'x[True]', OUT, None),
    ('y = x[n:]', 'x[n:]', OUT, 'SYN106'),
    ('x[mask] = 1', 'x[mask]', IN, 'SYN306'),
    ('x[i] = 1', 'x[i]', OUT, 'SYN106'),
    ('x[0] = v', 'x[0]', IN, 'SYN307'),
    ('x[0] = 1', 'x[0]', IN, 'SYN306'),
    ('x[0] = True', 'x[0]', IN, 'SYN306'),
    ('x[idx] = v', 'x[idx]', IN, 'SYN305'),
    ('x[idx] = -1', 'x[idx]', IN, 'SYN306'),
    ('x[idx] = v', 'x[idx]', SYNC, 'SYN106'),
    ('x[idx] = 1', 'x[idx]', SYNC, 'SYN106'),
    ('x[i] += 1', 'x[i]', IN, 'SYN305'),
    ("y = t.to('cuda')", "t.to('cuda')", OUT, 'SYN105'),
    ('y = t.to(dev)', 't.to(dev)', OUT, 'SYN105'),
    ('y = t.to(dev)', 't.to(dev)', IN, 'SYN302'),
    ('y = t.to(dev, non_blocking=True)', 't.to(dev, non_blocking=True)', 'cudaMemcpyAsync:in', 'SYN303'),
    ('y = t.to(dev, non_blocking=flag)', 't.to(dev, non_blocking=flag)', 'cudaMemcpyAsync:in', 'SYN302'),
    ('y = t.cuda()', 't.cuda()', IN, 'SYN302'),
    ('y = t.cuda(0)', 't.cuda(0)', IN, 'SYN302'),
    ('y = t.copy_(h)', 't.copy_(h)', IN, 'SYN302'),
    ('y = t.copy_(h)', 't.copy_(h)', OUT, 'SYN105'),
    ('y = t.copy_(h, True)', 't.copy_(h, True)', 'cudaMemcpyAsync:in', 'SYN303'),
    ('y = t.copy_(h, False)', 't.copy_(h, False)', IN, 'SYN302'),
    ("y = torch.tensor(1, device='cuda')", "torch.tensor(1, device='cuda')", IN, 'SYN301'),
    ('y = torch.tensor(t)', 'torch.tensor(t)', IN, 'SYN301'),
    ('y = torch.tensor([n])', 'torch.tensor([n])', OUT, 'SYN106'),
    ("y = torch.as_tensor(h, device='cuda')", "torch.as_tensor(h, device='cuda')", IN, 'SYN301'),
    ('y = torch.where(m)', 'torch.where(m)', OUT, 'SYN202'),
    ('y = t.nonzero()', 't.nonzero()', OUT, 'SYN202'),
    ('y = torch.bincount(t)', 'torch.bincount(t)', OUT, 'SYN206'),
    ('y = F.one_hot(t, -1)', 'F.one_hot(t, -1)', OUT, 'SYN206'),
    ('y = float(t)', 'float(t)', OUT, 'SYN103'),
    ('y = bool(t)', 'bool(t)', OUT, 'SYN103'),
    ('y = max(a, b)', 'max(a, b)', OUT, 'SYN104'),
    ('y = len(t)', 'len(t)', OUT, None),
    ('y = foo(t)', 'foo(t)', OUT, None),
    ('y = a.b.tolist()', 'a.b.tolist()', OUT, 'SYN102'),
    ('y = a().tolist()', 'a().tolist()', OUT, 'SYN102'),
    ('y = a[0].tolist()', 'a[0].tolist()', OUT, 'SYN102'),
    ('y = not t', 'not t', OUT, 'SYN104'),
    ('if not t.any(): pass', 'if not t.any(): pass', OUT, 'SYN104'),
    ('while flag and not t.any(): pass', 'while flag and not t.any(): pass', OUT, 'SYN104'),
    ('y = [k for k in ks if t.any()]', '[k for k in ks if t.any()]', OUT, 'SYN104'),
    ('if f(t): pass', 'if f(t): pass', OUT, 'SYN104'),
    ('for k in f(t): pass', 'for k in f(t): pass', OUT, None),
    ('y = t and u', 't and u', OUT, 'SYN104'),
    ('y = a if t else b', 'a if t else b', OUT, 'SYN104'),
    ('y = a if t else b', 't', OUT, 'SYN104'),
    ('y = a == b == c', 'a == b == c', OUT, 'SYN104'),
    ('print(t)', 'print(t)', OUT, 'SYN107'),
    ("print('x', t)", "print('x', t)", OUT, 'SYN107'),
    ('y = str(t)', 'str(t)', OUT, 'SYN107'),
    ('y = repr(t)', 'repr(t)', OUT, 'SYN107'),
    ("y = '%s' % t", "'%s' % t", OUT, 'SYN107'),
    ("y = '{}'.format(t)", "'{}'.format(t)", OUT, 'SYN107'),
    ("y = '{}'.lower()", "'{}'.lower()", OUT, None),
    ("y = f'{t:.3f}'", "f'{t:.3f}'", OUT, 'SYN107'),
    ("y = f'{step} {t}'", "f'{step} {t}'", OUT, 'SYN107'),
    ("y = torch.nn.Linear(2, 2).to('cuda')", "torch.nn.Linear(2, 2).to('cuda')", IN, 'SYN302'),
    ('del x[i]', 'x[i]', OUT, 'SYN106'),
    ('stream.synchronize()', 'stream.synchronize()', OUT, 'SYN401'),
    ('e.synchronize()', 'e.synchronize()', 'cudaDeviceSynchronize', 'SYN401'),
    ('x.synchronize()', 'x.synchronize()', 'cudaMemcpy', None),
    ('torch.cuda.current_stream().synchronize()', 'torch.cuda.current_stream().synchronize()', SYNC, 'SYN401'),
    ('e.elapsed_time(f)', 'e.elapsed_time(f)', 'cudaEventSynchronize', None),
    ('e.query()', 'e.query()', 'cudaEventQuery', None),
    ('t.pin_memory()', 't.pin_memory()', 'cudaHostAlloc', None),
    ('torch.cuda.empty_cache()', 'torch.cuda.empty_cache()', 'cudaFree', None),
    ('y = torch.allclose(a, b)', 'torch.allclose(a, b)', OUT, 'SYN103'),
    ('y = torch.equal(a, b)', 'torch.equal(a, b)', OUT, 'SYN103'),
    ('y = torch.linalg.cholesky(a)', 'torch.linalg.cholesky(a)', OUT, 'SYN502'),
    ('y = t.is_nonzero()', 't.is_nonzero()', OUT, 'SYN103'),
    ('y = t.unique()', 't.unique()', SYNC, 'SYN204'),
    ('y = t.unique(return_counts=True)', 't.unique(return_counts=True)', SYNC, 'SYN204'),
    ('y = t.view(n, -1)', 't.view(n, -1)', OUT, 'SYN106'),
    ('y = torch.zeros(n)', 'torch.zeros(n)', OUT, 'SYN106'),
    ('y = torch.zeros((n, 2))', 'torch.zeros((n, 2))', OUT, 'SYN106'),
    ('y = torch.zeros(2)', 'torch.zeros(2)', OUT, None),
    ('y = torch.linspace(0, n, 5)', 'torch.linspace(0, n, 5)', OUT, 'SYN106'),
    ('y = t.data_ptr()', 't.data_ptr()', OUT, None),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "expression", "api", "code"), [*CASES, *MORE])
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


@pytest.mark.parametrize(
    ("made", "call"),
    [
        ("import logging\nlog = logging.getLogger(__name__)", 'log.info("loss %s", t)'),
        ("import logging\nlog: logging.Logger = logging.getLogger()", "log.warning(t)"),
        ("from logging import getLogger\nself.log = getLogger()", "self.log.error(t)"),
        ("import logging", 'logging.getLogger("a").info(t)'),
        ("import logging", "logging.info(t)"),
    ],
)
def test_a_logger_of_the_file_writes_text(made, call):
    text = f"{made}\n{call}\n"
    line = text.count("\n")
    assert classify(text, line, 1, line, len(call) + 1, OUT) == "SYN107"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("def f(t): log.info(t)", "SYN107"),
        ("def f(t):\n    global log\n    log = logging.getLogger()\n    log.info(t)", "SYN107"),
        ("def f(t):\n    def g(): log.info(t)\n    log = logging.getLogger()\n    g()", "SYN107"),
        ("def f(t):\n    log = logging.getLogger()\n    log.info(t)", "SYN107"),
        ("def f(log, t): log.info(t)", None),
        ("def f(t, *, log=None):\n    def g(): log.info(t)\n    g()", None),
        ("f = lambda log, t: log.info(t)", None),
        ("def f(t, logs):\n    for log in logs: log.info(t)", None),
        ("def f(t, logs): return [log.info(t) for log in logs]", None),
        ("def f(t):\n    log = made()\n    log.info(t)", None),
    ],
    ids=["module", "global", "enclosing", "local", "parameter", "outer-parameter", "lambda", "loop", "comprehension",
         "other-local"],
)  # fmt: skip
def test_a_name_of_a_function_is_no_logger_of_the_module(body, code):
    text = f"import logging\nlog = logging.getLogger(__name__)\n{body}\n"
    (line,) = (number for number, each in enumerate(text.splitlines(), 1) if "log.info(t)" in each)
    start = text.splitlines()[line - 1].index("log.info(t)") + 1
    assert classify(text, line, start, line, start + len("log.info(t)"), OUT) == code


@pytest.mark.parametrize("made", ["", "import logging\nlog = logging.getLogger(__name__)\n"])
@pytest.mark.parametrize(
    ("call", "code"),
    [
        (f"({' + '.join(['t'] * 900)}).item()", "SYN101"),
        (f"t{'.a()' * 900}.item()", "SYN101"),
        (f"t{'.a' * 900}.item()", "SYN101"),
        (f"t{'[0]' * 900}.item()", "SYN101"),
        (f"x[{' + '.join(['t'] * 900)}]", "SYN201"),
        (f"x[{'- ' * 2000}t]", None),  # too deep for the rules
    ],
    ids=["terms", "calls", "attributes", "items", "index", "signs"],
)
def test_a_deep_expression_is_no_error(made, call, code):
    text = f"{made}{call}\n"
    line = text.count("\n")
    assert classify(text, line, 1, line, len(call) + 1, OUT) == code


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


@pytest.mark.parametrize(
    ("imports", "call", "code"),
    [
        ("import torch as th", "th.nonzero(m)", "SYN202"),
        ("import torch.nn.functional as F", "F.one_hot(t)", "SYN206"),
        ("import torch.nn.functional", "torch.nn.functional.one_hot(t)", "SYN206"),
        ("from torch import nn", "nn.functional.one_hot(t)", "SYN206"),
        ("from torch import unique as uniq, nonzero", "nonzero(m)", "SYN202"),
        ("from torch import unique as uniq, nonzero", "uniq(m)", "SYN204"),
        ("from torch.nn.functional import one_hot", "one_hot(t)", "SYN206"),
        ("from .torch import nonzero", "nonzero(m)", None),
        ("from torch import *", "nonzero(m)", None),
        ("import other", "other.nonzero(m)", None),
        ("import other as torch", "torch.nonzero(m)", None),
        ("if True:\n    import torch", "torch.nonzero(m)", "SYN202"),
        ("def f():\n    import torch", "torch.nonzero(m)", "SYN202"),
        ("", "m.nonzero()", "SYN202"),
        ("", "nonzero(m)", None),
        ("", "int(m)", "SYN103"),
        ("from other import int", "int(m)", None),
    ],
)
def test_names_are_those_that_the_file_imports(imports, call, code):
    line = imports.count("\n") + 2
    assert classify(f"{imports}\n{call}\n", line, 1, line, len(call) + 1, OUT) == code


def test_the_whole_statement_decides_where_no_smaller_place_does():
    source = "import torch\ny = (1,\n     t.item())\nz = u[m] ; w = t.tolist()\n"
    assert classify(source, 2, 1, 3, 15, OUT) is None
    assert classify(source, 3, 6, 3, 14, OUT) == "SYN101"
    assert classify(source, 4, 5, 4, 9, OUT) == "SYN201"
    assert classify(source, 4, 16, 4, 26, OUT) == "SYN102"
    assert classify(source, 3, 6, 3, 99, OUT) is None
    assert classify(source, 9, 1, 9, 2, OUT) is None
    assert classify(source, 2, 1, None, None, OUT) is None
    assert classify(source, 3, 6, 3, None, OUT) == "SYN101"


AROUND = """\
import torch
first = 1
def outer(t, mask):
    x = 0
    y = t.item(); z = y + 1
    return [u.tolist() for u in x]
for i in range(3):
    assert t[mask] > i, "no"
"""


def facts_of(text: str) -> tuple[RuntimeFacts, dict[str, ast.expr]]:
    module = ParsedModule(text)
    facts = RuntimeFacts(module, SYNC, load_table())
    return facts, {facts.source(node): node for node in ast.walk(module.tree) if isinstance(node, ast.expr)}


def test_a_rule_is_told_what_stands_around_an_expression():
    facts, found = facts_of(AROUND)
    item, listed, read = found["t.item()"], found["u.tolist()"], found["t[mask]"]

    def text(node):
        return None if node is None else facts.source(node)

    assert (text(facts.before(item)), text(facts.after(item))) == ("x = 0", "z = y + 1")
    assert (facts.after(read), facts.before(read)) == (None, None)
    assert text(facts.before(found["0"])) is None
    assert [facts.line(node) for node in (item, listed, read)] == [5, 6, 8]
    assert [facts.function(node) for node in (item, listed, read)] == ["outer", "outer", "<module>"]
    assert [facts.in_loop(node) for node in (item, listed, read)] == [False, True, True]
    assert [facts.used_at_once(node) for node in (item, listed, read)] == [True, True, True]
    assert [facts.raises(node) for node in (item, listed, read)] == [False, False, True]
    assert [facts.made_in_loop(node) for node in (item, found["t[mask] > i"])] == [False, False]
    assert type(facts.parent(item)).__name__ == "Assign"
    assert isinstance(facts.statement(read), ast.Assert)
    assert (facts.queued(item), facts.drifts_from(item), facts.wait_inside(item)) == (None, None, None)
    assert [*facts.behind(item)] == []


def test_a_rule_is_told_what_an_operand_is():
    facts, found = facts_of("import torch\ny = [True, None, 'a', -1, not t, (1, 2), t, t.sum(dim=0), f(g)]\n")
    kinds = {
        text: facts.of(found[text]).kind for text in ("True", "None", "'a'", "-1", "(1, 2)", "t", "not t")
    }
    assert kinds == {
        "True": Kind.NUMBER, "None": Kind.NONE, "'a'": Kind.STRING, "-1": Kind.NUMBER,
        "(1, 2)": Kind.TUPLE, "t": Kind.TENSOR, "not t": Kind.TENSOR,
    }  # fmt: skip
    assert facts.of(found["t"]).device is Device.CUDA
    summed, unknown = (found[text] for text in ("t.sum(dim=0)", "f(g)"))
    assert facts.name_of(summed.func) == "torch.Tensor.sum"
    assert facts.argument(summed, "dim") is found["0"]
    assert facts.argument(summed, "input") is found["t"]
    assert facts.argument(summed, "dtype") is None
    assert facts.argument(unknown, "input") is None
    assert (facts.blocks(summed), facts.operand(summed, "group").kind) == (
        None,
        facts.operand(unknown, "group").kind,
    )


@pytest.mark.parametrize(
    ("call", "suggested"),
    [
        ('"{:.2f}".format(loss)', "keep `loss.detach()`"),
        ('f"{loss:.2f}"', "keep `loss.detach()`"),
        ('f"{step}: {loss}"', rule_book()["SYN107"].instead),
        ("any(part > 2 for part in loss)", "read once for all tensors"),
        ("any(map(check, loss))", "read once for all tensors"),
        ("max(part.sum() for part in loss)", "compare on the GPU with `torch.maximum`"),
        ('torch.nn.Linear(2, 2).to("cuda")', "create the module in"),
    ],
)
def test_what_is_suggested_is_about_the_value_that_was_read(call, suggested):
    source = f"import torch\nfor step in range(3):\n    loss = train(step)\n    y = {call}\n"
    for api in (IN, OUT):
        found = explain(source, 4, 9, 4, 9 + len(call), api)
        if found is not None and found[0] in {"SYN104", "SYN107", "SYN302"}:
            assert found[1].startswith(suggested)
            return
    pytest.fail("no rule explains the call")

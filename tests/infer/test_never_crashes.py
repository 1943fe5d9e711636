"""Whatever Python the files hold, the analysis ends, and says so where a part of it failed."""

from __future__ import annotations

import ast
import cProfile
import json
import pstats
import random
import sys
import sysconfig
import textwrap
import warnings
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings

from syncscan.check.engine import check_sources
from syncscan.check.files import read_source
from syncscan.check.fix import apply_edits, fixable
from syncscan.check.infer.ir.instructions import Op
from syncscan.check.infer.solve import solver
from syncscan.model import Conventions, Failure, Finding
from syncscan.rule import rule_book
from tests.infer.programs import program
from tests.texts import check_texts

STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))
QUICK = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)


def check(*texts: str) -> tuple[list[Finding], list[Failure]]:
    result = check_texts(*texts)
    return result.findings, result.failed


def parses(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "a.py", "exec", ast.PyCF_ONLY_AST)
    except SyntaxError:
        return False
    return True


@pytest.mark.long
@QUICK
@given(program, program)
def test_any_two_modules_are_analysed(first: str, second: str) -> None:
    assume(parses(first) and parses(second))
    assert check(first, second)[1] == []


@pytest.mark.long
@QUICK
@given(program)
def test_a_fixed_file_parses_and_differs_only_where_an_edit_says_so(text: str) -> None:
    assume(parses(text))
    edits = [edit for finding in fixable(check(text)[0], unsafe=True) for edit in finding.fix.edits]
    fixed = apply_edits(text, fixable(check(text)[0], unsafe=True))
    assert parses(fixed)
    edited = {line for edit in edits for line in range(edit.line, edit.end_line + 1)}
    kept = [line for number, line in enumerate(text.split("\n"), 1) if number not in edited]
    rest = iter(fixed.split("\n"))
    assert all(line in rest for line in kept)  # in the same order


LOOPS = {
    "a lambda that is called with itself": "f = lambda g: g(g)\nf(f)\n",
    "two lambdas that call each other": "f = lambda g: g(f)\ng = lambda h: h(g)\nf(g)\n",
    "an object called by calling one of its class": "class A: pass\nA.__call__ = A()\nA()()\n",
    "objects that are called by calling each other": (
        "class A: pass\nclass B: pass\nA.__call__ = B()\nB.__call__ = A()\nA()()\n"
    ),
    "a call of what is either": "class A: pass\nA.__call__ = A()\nA.__call__ = len\nA()()\n",
    "a class that is its own base": "class A(A): pass\nA().x.y()\n",
    "classes that are each other's bases": "class A(B): pass\nclass B(A): pass\nB().f()\n",
    "a class nested in itself by name": "class A:\n    class A(A):\n        class A(A): x = A\nA.A.A.A().x\n",
    "a partial of itself": "import functools\nf = len\nfor _ in f: f = functools.partial(f, f)\nf()\n",
    "a list in itself": "x = []\nwhile x:\n    x = [x, x]\n    x.append(x)\n    x[0] = x\n",
    "a function that returns itself": "def f(g=None):\n    f.g = f\n    return f(f(f))\nf(f)()()\n",
    "a property that reads itself": (
        "class A:\n    @property\n    def x(self): return self.x.x\nA().x = A().x\n"
    ),
    "a module that imports itself": "import a\nfrom a import a as b, x as x\na.a.b.x.y\n",
    "a context manager that enters itself": (
        "class A:\n    def __enter__(self): return A().__enter__()\nwith A() as A.__enter__: A()\n"
    ),
    "super in a function": "def f(): super().f(f)\nsuper().x\n",
    "the method of a class that is no class": "A = 3\nclass B(A): pass\nB.f = B().f\nB().f()\n",
}


@pytest.mark.parametrize("text", LOOPS.values(), ids=LOOPS.keys())
def test_what_leads_back_to_itself_is_analysed(text: str) -> None:
    assert parses(text)
    assert check(text)[1] == []


def test_modules_that_import_and_inherit_from_each_other_are_analysed() -> None:
    first = "from b import B, x\nclass A(B):\n    def f(self): return B.f(self)\nx = x\n"
    second = "from a import A, x\nclass B(A):\n    def f(self): return super().f()\nB().f()\n"
    assert check(first, second)[1] == []


def files_of(folder: Path, count: int, seed: int) -> list[Path]:
    files = sorted(folder.glob("*.py"))
    return random.Random(seed).sample(files, min(count, len(files)))


def test_files_of_the_standard_library_are_analysed() -> None:
    paths = (*files_of(STANDARD_LIBRARY, 12, 1), *files_of(STANDARD_LIBRARY / "asyncio", 6, 2))
    sources = [read_source(path, STANDARD_LIBRARY, {}) for path in paths]
    assert check_sources(sources, None, Conventions(), lambda *_: None).failed == []


ANNOTATIONS = {
    "nothing in it": "Annotated[()]",
    "nothing in a list": "list[()]",
    "nothing in a dict": "dict[()]",
    "nothing in an option": "Optional[()]",
    "a text that nests too deeply": f'"{"-" * 7000}1"',
    "a text with an unknown escape": r'"Literal[\'\\d\']"',
    "a text with half a character": r'"\ud800"',
    "a text with a null": r'"\0"',
    "a text in a text": "\"list['list[torch.Tensor]']\"",
    "a statement as text": '"x = 1"',
}


@pytest.mark.parametrize("annotation", ANNOTATIONS.values(), ids=ANNOTATIONS.keys())
def test_annotations_that_say_nothing_are_passed_over(annotation: str) -> None:
    text = f"""
        import torch
        from typing import Annotated, Literal, Optional

        def f(x: {annotation}, *y: {annotation}, z: {annotation} = None) -> {annotation}:
            kept: {annotation} = x
            return torch.zeros(3, device="cuda").item()

        f(1).item()
    """
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        findings, failed = check(textwrap.dedent(text))
    assert ([finding.line for finding in findings], failed, warned) == ([7], [], [])


@pytest.mark.parametrize("count", [1500, 4000])
@pytest.mark.parametrize("form", ["x = t{}\n", "if t: pass\n{}"])
def test_what_is_nested_too_deeply_is_said_to_be(form: str, count: int) -> None:
    text = 'import torch\nt = torch.zeros(3, device="cuda")\ndef f(): return t.item()\n'
    deep = form.format({"x": ".T", "i": "elif t: pass\n"}[form[0]] * count)
    findings, failed = check(text + deep)
    assert all("nested too deeply" in failure.message for failure in failed)
    assert failed == [] or failed[0].partial is False or [finding.line for finding in findings] == [3]


DEEP = 'import torch\nt = torch.zeros(3, device="cuda")\ndef f(): return t.item()\n'


def test_an_index_that_is_nested_too_deeply_costs_one_function_and_is_no_defect() -> None:
    findings, failed = check(DEEP + "x = t{}.item()\n".format("[0]" * 2500))
    assert [finding.line for finding in findings] == [3]
    assert [failure.message for failure in failed] == [
        "`<module>` is nested too deeply to be analysed; the rest of the file was checked"
    ]


def test_a_long_chain_of_conditions_is_not_nested() -> None:
    findings, failed = check(DEEP + "x = t{}\n".format(" and t" * 900))
    assert [finding.line for finding in findings] == [3, *[4] * 900]
    assert failed == []


BLOCKS = """\
import torch

t = torch.zeros(3, device="cuda")


def good():
    return t.item()


def bad():
    # syncscan: ignore[SYN101] what it suppresses is not known while the function cannot be analysed
    return t.item() if t is not None else 1
"""


def test_a_defect_of_ours_costs_one_function_and_is_reported(syncscan, project, monkeypatch) -> None:
    real = solver._TRANSFERS[Op.RETURN]

    def broken(at, operands, data):
        if at.function.name == "bad":
            raise KeyError("missing\nkey")
        return real(at, operands, data)

    transfers = [broken if each is real else each for each in solver._TRANSFERS]
    monkeypatch.setattr(solver, "_TRANSFERS", transfers)
    project({"a.py": BLOCKS, "b.py": BLOCKS.replace("bad", "fine")})
    done = syncscan("check", ".")
    assert done.status == 2
    assert [line for line in done.stdout.splitlines() if "SYN" in line and line.startswith(("a", "b"))] == [
        line for line in done.stdout.splitlines() if line.startswith(("a.py:7:", "b.py:7:"))
    ]
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith(
        "syncscan: a.py:10: `bad` could not be analysed, the rest of the file was checked; "
    )
    assert "please report it: KeyError: 'missing\\nkey' (test_never_crashes.py:" in done.stderr
    assert sys.getrecursionlimit() < 10_000


def test_a_rule_that_fails_costs_one_function_and_is_reported(syncscan, project, monkeypatch) -> None:
    def broken(self, node, facts):
        if "tolist" in facts.source(node):
            raise TypeError("no")

    monkeypatch.setattr(type(rule_book()["SYN102"]), "match", broken)
    project({"a.py": BLOCKS.replace("return t.item() if", "return t.tolist() if")})
    done = syncscan("check", ".", "--output-format", "json")
    report = json.loads(done.stdout)
    assert (done.status, [finding["line"] for finding in report["findings"]]) == (2, [7])
    assert [failure["message"].split("; ")[0] for failure in report["files"]["failed"]] == [
        "`bad` could not be analysed, the rest of the file was checked"
    ]


LONG = {
    "names": "x{n} = t\n",
    "attributes": "t.x{n} = t\n",
    "keys": "d['{n}'] = t\n",
    "branches": "if t: x = t\n",
    "findings": "t.item()\n",
    "functions": "def f{n}(x): return f{n}(t)\n",
    "lambdas": "x = lambda a: a.item()\n",
    "classes": "class A{n}(A): x = t\n",
    "loops": "for x in t: x.item()\n",
    "overrides": "class A{n}(A):\n    def f(self, x): return x.item()\nA().f(t)\n",
    "properties": "class A{n}(A):\n    @property\n    def p(self): return t.item()\nA().p\n",
    "suppressions": "t.item()  # syncscan: ignore[SYN101] why\n",
}


@pytest.mark.long
@pytest.mark.parametrize("line", LONG.values(), ids=LONG.keys())
def test_the_work_grows_with_the_length_of_a_file_and_no_faster(line: str) -> None:
    head = 'import torch\nd = {}\nt = torch.zeros(3, device="cuda")\nclass A: pass\n'
    check(head)  # what is done once only is no part of it
    few, more, most = (
        calls_made(head + "".join(line.format(n=number) for number in range(count)))
        for count in (100, 400, 700)
    )
    assert most - more < 1.2 * (more - few)


@pytest.mark.long
@pytest.mark.parametrize(
    "form",
    [
        lambda count: f"f = {'lambda x: ' * count}x\n",
        lambda count: "if t: x = t\n" + "".join(f"elif t == {n}: x{n} = t\n" for n in range(count)),
        lambda count: "".join(
            f"class A{n}(A{(n + 1) % count}):\n    def f(self): self.x{n} = self.f() + self.y\n"
            for n in range(count)
        ),
        lambda count: f"x = t{'.a' * count}\n",
        lambda count: f"x = t{'[0]' * count}\n",
        lambda count: f"t{'.a' * count} = t{'[0]' * count} = 1\n",
        lambda count: f"x = t{'.view(1)' * count}\n",
    ],
    ids=["lambdas in lambdas", "elif", "classes in a circle", "attributes", "items", "targets", "calls"],
)
def test_the_work_grows_with_what_is_nested_and_no_faster(form) -> None:
    check(form(2))
    few, more, most = (calls_made(form(count)) for count in (80, 160, 240))
    assert most - more < 1.2 * (more - few)


def test_very_many_branches_of_one_test_are_not_nested() -> None:
    text = 'import torch\nt = torch.zeros(3, device="cuda")\nif t: x = 0\n'
    findings, failed = check(
        text + "".join(f"elif y == {n}: x = {n}\n" for n in range(4000)) + "else: t.item()\n"
    )
    assert ([finding.code for finding in findings], failed) == (["SYN104", "SYN101"], [])


def calls_made(text: str) -> int:
    """How many functions are called to check a program: its work, measured without a clock."""
    profile = cProfile.Profile()
    profile.runcall(check, text)
    return pstats.Stats(profile).total_calls  # type: ignore[attr-defined]


def test_slices_of_slices_end() -> None:
    text = """
        def create(a):
            if isinstance(a, slice):
                return slice(create(a.start), create(a.stop), create(a.step))
            if isinstance(a, tuple):
                return tuple([create(a), create(a), (create(a), create(a))])
            return create(slice(a, a, (a, a)))
    """
    assert check_texts(textwrap.dedent(text)).findings == []


@pytest.mark.parametrize(
    "line", ["if f: x = functools.partial(f, x, x)", "x = functools.partial(f, k=x, m=x)"]
)
def test_partials_of_partials_end(line: str) -> None:
    few, more = (
        calls_made("import functools\ndef f(*a, **k): return a\nx = f\n" + f"{line}\n" * count)
        for count in (100, 200)
    )
    assert more < 2.5 * few


def test_properties_that_all_read_one_another_end() -> None:
    reads = "; ".join(f"self.p{number}" for number in range(120))
    text = "class A:\n" + "".join(f"    @property\n    def p{n}(self): {reads}\n" for n in range(120))
    assert check(text) == ([], [])


@pytest.mark.parametrize("depth", [3, 6, 40])
def test_loops_in_loops_end_and_carry_what_they_leave_to_the_next_round(depth: int) -> None:
    text = "import torch\nx = y = z = p = q = r = None\n"
    for level in range(depth):
        text += f"{' ' * level}while f():\n{' ' * level} x, y, z = y, z, [x]\n"
    text += f'{" " * depth}p, q, r = q, r, torch.zeros(3, device="cuda")\n{" " * depth}p.item()\n'
    findings, failed = check(text)
    assert (len(findings), failed) == (1, [])


def test_a_pattern_in_many_brackets_ends() -> None:
    pattern = f"{'(' * 60}x{')' * 60}"
    text = (
        f'import torch\nt = torch.zeros(3, device="cuda")\nmatch t.item():\n    case {pattern} if t: pass\n'
    )
    findings, failed = check(text)
    assert ([(finding.line, finding.code) for finding in findings], failed) == (
        [(3, "SYN101"), (4, "SYN104")],
        [],
    )

"""A rule is one file: what its author may ask, and what is said where it asks for the impossible."""

from __future__ import annotations

import ast
import importlib
import sys
import textwrap

import pytest

from syncscan import rule as rules
from syncscan.errors import SyncscanError
from syncscan.rule import Match, Precedence, Rule, by_precedence, check_rule, rule_book
from syncscan.trace.classify import classify

IPC_COLLECT = '''
"""`ipc_collect` in a loop looks for what other processes have left.

**Stays silent** outside of loops.

**No rewrite.**
"""

import ast

from syncscan.rule import Example, Facts, Match, Rule
from syncscan.trace.classify import classify


class IpcCollect(Rule):
    code = "SYN901"
    name = "ipc-collect"
    summary = "what others left is collected in a loop"
    instead = "collect it once, if at all"
    nodes = (ast.Call,)
    asks = frozenset({"torch.cuda.ipc_collect"})
    examples = ()

    def match(self, node: ast.AST, facts: Facts) -> Match | None:
        if not isinstance(node, ast.Call) or facts.name_of(node.func) != "torch.cuda.ipc_collect":
            return None
        if not facts.in_loop(node):
            return None
        around = [type(facts.parent(node)).__name__, type(facts.statement(node)).__name__]
        text = [facts.function(node), *around]
        for other in (facts.before(node), facts.after(node)):
            text.append("nothing" if other is None else facts.source(other).strip().split("\\n")[0])
        return Match(node, ", ".join([*text, "used" if facts.used_at_once(node) else "not used"]))
'''


@pytest.fixture
def own_rule(tmp_path, monkeypatch):
    """Put a rule's file beside those of the rule book."""

    def add(text: str) -> None:
        folder = tmp_path / "own_rules"
        folder.mkdir()
        (folder / "ipc_collect.py").write_text(text, encoding="utf-8")
        package = importlib.import_module("syncscan.rules")
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
        rule_book.cache_clear()

    yield add
    monkeypatch.undo()
    sys.modules.pop("syncscan.rules.ipc_collect", None)
    rule_book.cache_clear()


def messages(text: str) -> list[tuple[int, str]]:
    from tests.texts import check_texts  # noqa: PLC0415

    result = check_texts(textwrap.dedent(text))
    assert not result.failed
    return [(finding.line, finding.message) for finding in result.findings if finding.code == "SYN901"]


def test_a_rule_is_asked_about_what_the_table_says_does_not_block(own_rule) -> None:
    own_rule(IPC_COLLECT)
    text = """
        import torch
        import torch.cuda as gpu

        def epoch(batches):
            gpu.ipc_collect()
            for batch in batches:
                print(batch)
                gpu.ipc_collect()
                del batch
            while gpu.ipc_collect():
                pass
            return [gpu.ipc_collect() for _ in batches], gpu.ipc_collect()

        class Trainer:
            def fit(self):
                with self:
                    for _ in range(3):
                        if self:
                            left = torch.cuda.ipc_collect()
                            print(left)
                        else:
                            def later():
                                return torch.cuda.ipc_collect()
                else_ = 1
    """
    text = text.replace("                else_ = 1\n", "")
    assert messages(text) == [
        (9, "epoch, Expr, Expr, print(batch), del batch, not used"),
        (11, "epoch, While, While, for batch in batches:, return [gpu.ipc_collect() for _ in batches], gpu.ipc_collect(), used"),
        (13, "epoch, ListComp, Return, while gpu.ipc_collect():, nothing, used"),
        (20, "Trainer.fit, Assign, Assign, nothing, print(left), used"),
    ]  # fmt: skip


class Ordinary(Rule):
    code = "SYN902"
    name = "ordinary"
    summary = instead = "-"
    nodes = (ast.Call,)
    examples = ()

    def match(self, node: ast.AST, facts: rules.Facts) -> Match | None:
        return None


IMPOSSIBLE = {
    "a body": ({"nodes": (ast.Call, ast.FunctionDef)}, "`nodes` names FunctionDef"),
    "a context": ({"nodes": (ast.Load,)}, "`nodes` names Load"),
    "a node of another library": ({"nodes": (str,)}, "`nodes` names str of builtins"),
    "a short name": ({"asks": frozenset({"ipc_collect"})}, "'ipc_collect', which is no full name"),
    "calls, without being asked": (
        {"asks": frozenset({"torch.cuda.ipc_collect"}), "nodes": (ast.Subscript,)},
        "`nodes` no calls",
    ),
}


@pytest.mark.parametrize(("changes", "said"), IMPOSSIBLE.values(), ids=IMPOSSIBLE.keys())
def test_a_rule_that_names_what_it_is_never_asked_about_is_an_error(changes, said) -> None:
    check_rule(Ordinary())
    with pytest.raises(SyncscanError) as error:
        check_rule(type("Impossible", (Ordinary,), changes)())
    assert said in str(error.value)
    assert str(error.value).startswith("rule SYN902 (ordinary): ")
    assert "\n" not in str(error.value)


def test_the_error_is_one_line_for_the_user(own_rule, syncscan, project) -> None:
    own_rule(IPC_COLLECT.replace("(ast.Call,)", "(ast.ClassDef,)"))
    project({"a.py": "x = 1\n"})
    done = syncscan("check", ".")
    assert done.status == 2
    assert "rule SYN901 (ipc-collect): `nodes` names ClassDef" in done.stderr
    assert "Traceback" not in done.stderr


def test_two_rules_with_one_code_are_an_error(own_rule) -> None:
    own_rule(IPC_COLLECT.replace("SYN901", "SYN101"))
    with pytest.raises(SyncscanError, match="two rules have one code"):
        rule_book()


def test_a_rule_about_one_operation_speaks_before_one_about_a_kind_whatever_its_code(own_rule) -> None:
    text = IPC_COLLECT.replace("torch.cuda.ipc_collect", "torch.bincount").replace(
        "if not facts.in_loop(node)", "if False"
    )
    own_rule(text)
    program = "import torch\nx = torch.zeros(3, dtype=torch.int64, device='cuda')\ny = torch.bincount(x)\n"
    from tests.texts import check_texts  # noqa: PLC0415

    assert [finding.code for finding in check_texts(program).findings] == ["SYN901"]
    assert [rule.precedence for rule in by_precedence()] == sorted(
        rule.precedence for rule in by_precedence()
    )
    assert {rule.code for rule in by_precedence() if rule.precedence is Precedence.FAMILY} >= {"SYN206"}


@pytest.mark.parametrize(
    ("body", "made"),
    [
        ("for k in range(3):\n    x = x + k\n    y = torch.bincount(x)", True),
        ("for k in range(3):\n    y = torch.bincount(x)", False),
        ("for x in [x]:\n    y = torch.bincount(x)", False),
        ("while True:\n    (z, (x, u)) = 1, (x, 2)\n    if z:\n        y = torch.bincount(x)", True),
        ("while True:\n    x[0] = 1\n    y = torch.bincount(x)", True),
        ("while True:\n    torch.x = x\n    y = torch.bincount(x)", False),
        ("while True:\n    torch.x = x\n    y = torch.bincount(torch.x)", True),
        ("while True:\n    with open('a') as x:\n        y = torch.bincount(x)", True),
        ("while True:\n    x += 1\n    for k in range(3):\n        y = torch.bincount(x)", False),
        ("while True:\n    x = x + 1\n    y = [torch.bincount(x) for _ in range(3)]", False),
        ("while True:\n    if (x := x + 1) is None: pass\n    y = torch.bincount(x)", True),
        ("while True:\n    def f():\n        return torch.bincount(x)\n    x = f()", False),
        ("while True:\n    x = x + 1\nelse:\n    y = torch.bincount(x)", False),
    ],
)
def test_what_a_round_of_a_loop_made_is_told_from_what_was_there_before(own_rule, body, made) -> None:
    """Of a whole file, as a trace reads it; the check is asked through what it says, in test_check_suggestions."""
    own_rule(
        IPC_COLLECT.replace("torch.cuda.ipc_collect", "torch.bincount").replace(
            "facts.in_loop(node)", "facts.made_in_loop(node)"
        )
    )
    text = f"import torch\nx = torch.zeros(3, dtype=torch.int64, device='cuda')\n{body}\n"
    line, column = next(
        (number, line.index("torch.bincount"))
        for number, line in enumerate(text.split("\n"), start=1)
        if "torch.bincount" in line
    )
    end = text.split("\n")[line - 1].index(")", column) + 1
    found = classify(text, line, column + 1, line, end + 1, "cudaStreamSynchronize:out")
    assert (found == "SYN901") is made

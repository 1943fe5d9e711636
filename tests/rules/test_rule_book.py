"""Every rule is complete, and its examples are what it says they are."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

from syncscan.check.fix import apply_edits, fixable
from syncscan.model import Finding
from syncscan.rule import Example, Rule, rule_book
from tests.texts import check_texts

RULES = list(rule_book().values())
EXPECTED = re.compile(r"  # expect: (SYN\d{3})$", re.MULTILINE)


def examples(kind: str) -> list[object]:
    return [
        pytest.param(rule, example, id=f"{rule.code}-{number}")
        for rule in RULES
        for number, example in enumerate(rule.examples)
        if getattr(example, kind)
    ]


def findings(text: str) -> list[Finding]:
    result = check_texts(text)
    assert not result.failed
    return result.findings


def places(found: list[Finding]) -> list[tuple[int, str]]:
    return sorted((finding.line, finding.code) for finding in found)


def fixed(text: str) -> str:
    return apply_edits(text, fixable(findings(text), unsafe=True))


def test_every_module_holds_one_rule_with_a_code_and_a_name_of_its_own() -> None:
    folder = Path(sys.modules["syncscan.rules"].__file__ or "").parent
    modules = {path.stem for path in folder.glob("[!_]*.py")}
    assert {rule.name.replace("-", "_") for rule in RULES} == modules
    assert len(RULES) == len(modules)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_rule_has_a_complete_page(rule: Rule) -> None:
    page = sys.modules[type(rule).__module__].__doc__ or ""
    assert re.fullmatch(r"SYN\d{3}", rule.code)
    assert sys.modules[type(rule).__module__].__name__ == f"syncscan.rules.{rule.name.replace('-', '_')}"
    for line in (rule.summary, rule.instead):
        assert line
        assert "\n" not in line
        assert not line.endswith(".")
    if rule.nodes:
        assert "**Stays silent**" in page
        assert "**Fix" in page or "**No rewrite" in page
        assert any(example.bad for example in rule.examples)
        assert any(example.good for example in rule.examples)
        assert ("**Fix" in page) == any(example.fixed for example in rule.examples)


@pytest.mark.parametrize(("rule", "example"), examples("bad"))
def test_a_bad_example_is_found_at_the_marked_lines_and_nowhere_else(rule: Rule, example: Example) -> None:
    lines = example.bad.split("\n")
    marked = [(number, code) for number, line in enumerate(lines, 1) for code in EXPECTED.findall(line)]
    assert marked
    assert rule.code in {code for _, code in marked}
    assert places(findings(example.bad)) == marked


@pytest.mark.parametrize(("rule", "example"), examples("good"))
def test_a_good_example_stays_silent(rule: Rule, example: Example) -> None:
    assert places(findings(example.good)) == []


@pytest.mark.parametrize(("rule", "example"), examples("bad"))
def test_the_fix_gives_exactly_the_fixed_example_and_has_nothing_more_to_do(
    rule: Rule, example: Example
) -> None:
    after = fixed(EXPECTED.sub("", example.bad))
    assert after == (example.fixed or EXPECTED.sub("", example.bad))
    ast.parse(after)
    assert fixed(after) == after


@pytest.mark.parametrize(("rule", "example"), examples("fixed"))
def test_a_fixed_example_does_not_block_any_more(rule: Rule, example: Example) -> None:
    assert places(findings(example.fixed)) == []


@pytest.mark.parametrize(("rule", "example"), examples("bad"))
def test_each_finding_says_in_one_sentence_what_happens_and_what_to_do(rule: Rule, example: Example) -> None:
    for finding in findings(example.bad):
        for text in (finding.message, finding.fix.description):
            assert text
            assert "\n" not in text
            assert not text.endswith(".")

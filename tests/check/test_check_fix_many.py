"""Fixes of many rules in one file: what comes out parses, settles, and differs only where an edit says so."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from syncscan.check.discover import Project
from syncscan.check.files import Source, normalise
from syncscan.check.fix import apply_edits, fixable
from syncscan.check.session import Checked, check, check_and_fix
from syncscan.config import Config
from syncscan.model import Finding
from syncscan.rule import rule_book

EXAMPLES = sorted({example.bad for rule in rule_book().values() for example in rule.examples if example.bad})
PATH = Path("/project/a.py")


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Bad examples, each in a function of its own, with any line ends and any indentation."""
    indent = draw(st.sampled_from([" ", "    ", "\t"]))
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    chosen = draw(st.lists(st.sampled_from(EXAMPLES), min_size=1, max_size=4))
    functions = [
        f"def f{number}():\n" + textwrap.indent(example, indent) for number, example in enumerate(chosen)
    ]
    return "\n".join(functions).replace("\n", end)


def fix(text: str) -> Checked:
    project = Project((Source(PATH, "a.py", "a", normalise(text)),), None)
    config = Config(root=PATH.parent)
    contents = {PATH: text.encode()}

    def chosen(outcome: Checked) -> list[Finding]:
        return fixable(outcome.findings, unsafe=True)

    return check_and_fix(project, config, lambda *_: None, 0, chosen=chosen, contents=contents)


def covered(findings: list[Finding]) -> set[int]:
    """The lines that the edits of some findings touch."""
    edits = [edit for finding in findings for edit in finding.fix.edits]
    return {line for edit in edits for line in range(edit.line, edit.end_line + 1)}


@settings(max_examples=60, deadline=None)
@given(programs())
def test_fixed_programs_parse_and_settle(text):
    outcome = fix(text)
    assert outcome.failures == ()
    for draft in outcome.drafts:
        ast.parse(draft.after)
        again = fix(draft.after)
        assert (again.drafts, again.fixed) == ((), 0)
        assert again.findings == outcome.findings


@settings(max_examples=60, deadline=None)
@given(programs())
def test_one_round_touches_only_the_lines_of_its_edits(text):
    project = Project((Source(PATH, "a.py", "a", normalise(text)),), None)
    findings = fixable(check(project, Config(root=PATH.parent), lambda *_: None, 0).findings, unsafe=True)
    before = normalise(text).split("\n")
    after = normalise(apply_edits(text, findings)).split("\n")
    touched = covered(findings)
    kept = [line for number, line in enumerate(before, 1) if number not in touched]
    rest = iter(after)
    assert all(line in rest for line in kept)

"""Suppressions, as reports show them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncscan.check.suppress import find_suppressions

HEAD = 'import torch\n\nlosses = torch.zeros(8, device="cuda")\n'
READ = "print(losses.sum().item())"
IGNORE = "# syncscan: ignore[SYN101] read once"


def check(syncscan, project, source: str, *arguments: str, table: str = "") -> list[tuple[int, str, str]]:
    """Line, code and message of each finding in a file."""
    project({"a.py": source, "pyproject.toml": f"[tool.syncscan]\n{table}\n"})
    findings = json.loads(syncscan("check", "--output-format", "json", *arguments).stdout)["findings"]
    return [(finding["line"], finding["code"], finding["message"]) for finding in findings]


SILENT = {
    "on-the-line": f"{READ}  {IGNORE}\n",
    "on-the-line-above": f"{IGNORE}\n{READ}\n",
    "above-with-a-reason-of-two-lines": f"{IGNORE}\n# when the run ends\n{READ}\n",
    "indented": f"if losses is not None:\n    {IGNORE}\n    {READ}\n",
    "by-prefix": f"{READ}  # syncscan: ignore[SYN1] read once\n",
    "lower-case": f"{READ}  # syncscan: ignore[syn101] read once\n",
    "other-case": f"{READ}  # SyncScan: Ignore[Syn101] read once\n",
    "several-codes": f"{READ}  # syncscan: ignore[SYN101, SYN001] read once\n",
    "beside-another-tool": f"{READ}  # type: ignore  {IGNORE}  # noqa: T201\n",
    "no-space-before": f"{READ}{IGNORE}\n",
    "no-space": f"{READ}  #syncscan:ignore[SYN101]\n",
    "first-line-of-several": f"print(\n    losses.sum(  {IGNORE}\n    ).item()\n)\n",
    "last-line-of-several": f"print(\n    losses.sum(\n    ).item()  {IGNORE}\n)\n",
    "line-inside": f"print(\n    losses.sum(\n        {IGNORE}\n    ).item()\n)\n",
    "above-several-lines": f"print(\n    {IGNORE}\n    losses.sum(\n    ).item()\n)\n",
    "above-a-split-chain": f"{IGNORE}\nx = (\n    losses.sum()\n    .item()\n)\n",
    "above-a-split-call": f"{IGNORE}\nprint(\n    1,\n    losses.sum().item(),\n)\n",
    "above-chained-brackets": f"{IGNORE}\nprint(\n    1\n) or print(\n    losses.sum().item(),\n)\n",
    "above-a-backslash": f"{IGNORE}\nx = 1 + \\\n    losses.sum().item()\n",
    "above-a-split-head": f"{IGNORE}\nif (\n    losses.sum()\n    .item()\n):\n    pass\n",
    "above-a-split-argument": f"print(\n    {IGNORE}\n    max(\n        1,\n        losses.sum().item(),\n    ),\n)\n",
    "behind-an-opening-bracket": f"x = (  {IGNORE}\n    losses.sum()\n    .item()\n)\n",
    "behind-a-closing-bracket": f"x = [\n    1,\n    losses.sum().item(),\n]  {IGNORE}\n",
    "behind-a-split-head": f"if (\n    losses.sum()\n    .item()\n):  {IGNORE}\n    pass\n",
    "behind-a-split-argument": f"print(\n    max(\n        1,\n        losses.sum().item(),\n    ),  {IGNORE}\n)\n",
    "behind-a-string-of-several-lines": f'x = f"""\n{{losses.sum().item()}}\n"""  {IGNORE}\n',
    "above-a-blank-line": f"{IGNORE}\n\n{READ}\n",
    "above-a-comment-of-its-own-kind": f"# syncscan: ignore[SYN001] mirrored\n{IGNORE}\nx = 1\n",
    "itself": "# syncscan: ignore[SYN101, SYN001] mirrored\nx = 1\n",
    "whole-file": f"# syncscan: file-ignore[SYN101] a script\n\n{READ}\n\n\n{READ}\n",
    "whole-file-from-its-end": f"{READ}\n# syncscan: file-ignore[SYN1] a script\n",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_a_suppression_silences(syncscan, project, source):
    assert check(syncscan, project, HEAD + source) == []


LOUD = {
    "two-statements-above": f"{IGNORE}\nx = 1\n{READ}\n",
    "above-the-head": f"{IGNORE}\nif (\n    losses is not None\n):\n    {READ}\n",
    "behind-the-head": f"if (\n    losses is not None\n):  {IGNORE}\n    {READ}\n",
    "behind-another-argument": f"print(\n    1,  {IGNORE}\n    losses.sum().item(),\n)\n",
    "above-another-argument": f"print(\n    {IGNORE}\n    1,\n    losses.sum().item(),\n)\n",
    "before-the-closing-bracket": f"print(\n    losses.sum().item()\n    {IGNORE}\n)\n",
    "behind-code-on-the-line-above": f"x = 1  {IGNORE}\n{READ}\n",
    "in-a-string": f'x = "{IGNORE}"; {READ}\n',
    "in-a-docstring": f'"""\n{IGNORE}\n"""; {READ}\n',
    "quoted-in-a-comment": f"{READ}  # see `{IGNORE}`\n",
    "on-the-line-below": f"{READ}\n{IGNORE}\n",
}


@pytest.mark.parametrize("source", LOUD.values(), ids=LOUD)
def test_what_is_no_suppression_of_this_line_silences_nothing(syncscan, project, source):
    assert "SYN101" in [code for _, code, _ in check(syncscan, project, HEAD + source)]


@pytest.mark.parametrize("comment", ["ignroe[SYN101]", "skip[SYN101]", "sync-free[SYN101]"])
def test_a_comment_that_does_not_say_to_ignore_suppresses_nothing(syncscan, project, comment):
    text = (
        f'import torch\nx = torch.ones(3, device="cuda")\nprint(x.sum().item())  # syncscan: {comment} typo\n'
    )
    project({"a.py": text})
    done = syncscan("check", "a.py", "--when", "all", "--select", "SYN101", "--output-format", "concise")
    assert "SYN101 `.item()`" in done.stdout


WRONG = {
    "unused": (f"x = 1  {IGNORE}", "this comment suppresses nothing: no SYN101 here"),
    "unknown-code": (
        "x = 1  # syncscan: ignore[SYN1O1]",
        "this comment names the unknown code SYN1O1; did you mean 'SYN101'?",
    ),
    "unlike-any-code": (
        "x = 1  # syncscan: ignore[NOQA]",
        "this comment names the unknown code NOQA; `syncscan rule` lists them",
    ),
    "unlike-any-word": (
        "x = 1  # syncscan: off[SYN101]",
        "this comment is not understood; it says neither ignore nor file-ignore. Write `# syncscan: ignore[SYN101] reason`",
    ),
    "no-code": (
        "x = 1  # syncscan: ignore read once",
        "this comment names no code, so it suppresses nothing; write `# syncscan: ignore[SYN101] reason`",
    ),
    "misspelt": (
        "x = 1  # syncscan: ingore[SYN101]",
        "this comment is not understood; did you mean 'ignore'? Write `# syncscan: ignore[SYN101] reason`",
    ),
    "unused-in-the-file": (
        "# syncscan: file-ignore[SYN101] a script",
        "this comment suppresses nothing: no SYN101 here",
    ),
}


@pytest.mark.parametrize(("line", "message"), WRONG.values(), ids=WRONG)
def test_a_comment_that_is_of_no_use_is_a_finding(syncscan, project, line, message):
    assert check(syncscan, project, f"{line}\n") == [(1, "SYN001", message)]


def test_unused_suppressions_can_be_allowed(syncscan, project):
    assert check(syncscan, project, f"# syncscan: file-ignore[SYN001] mirrored\nx = 1  {IGNORE}\n") == []


@pytest.mark.parametrize(("reason", "count"), [("", 1), (" :", 1), (" the scheduler needs it", 0)])
def test_reasons_can_be_required(syncscan, project, reason, count):
    source = f"{HEAD}{READ}  # syncscan: ignore[SYN101]{reason}\n"
    found = check(syncscan, project, source, table="require-reason = true")
    message = "this comment gives no reason; say after the codes why the finding is suppressed"
    assert found == [(4, "SYN001", message)] * count
    assert check(syncscan, project, source) == []


FIXED = {
    "behind-code": (f"x = 1  {IGNORE}\n", "x = 1\n"),
    "alone": (f"if x:\n    {IGNORE}\n    y = 1\n", "if x:\n    y = 1\n"),
    "alone-at-the-end": (f"x = 1\n{IGNORE}", "x = 1\n"),
    "before-another-tool": (f"x = 1  {IGNORE}  # noqa: X\n", "x = 1  # noqa: X\n"),
    "after-another-tool": (f"x = 1  # noqa: X  {IGNORE}\n", "x = 1  # noqa: X\n"),
    "one-code-of-two": (
        f"{HEAD}{READ}  # syncscan: ignore[SYN101, SYN2] x\n",
        f"{HEAD}{READ}  # syncscan: ignore[SYN101] x\n",
    ),
    "misspelt-stays": ("x = 1  # syncscan: ingore[SYN101]\n", "x = 1  # syncscan: ingore[SYN101]\n"),
}


@pytest.mark.parametrize(("before", "after"), FIXED.values(), ids=FIXED)
def test_the_fix_takes_out_what_suppresses_nothing(syncscan, project, before, after):
    root = project({"a.py": before})
    syncscan("check", "--fix")
    assert (root / "a.py").read_text() == after


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["# syncscan: ignore[SYN1] x", "'", '"""', "(", ")", "\n", "\t", "\\", "\f", "é", "x"]
        )
    )
)
def test_no_text_is_too_odd(pieces):
    text = "".join(pieces)
    rows = text.split("\n")
    for found in find_suppressions(text):
        assert rows[found.line - 1][found.column - 1 : found.end_column - 1] == found.text

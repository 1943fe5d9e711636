"""Fixes: what they change in a file, and what they never touch."""

from __future__ import annotations

import ast
import re
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncscan.check.files import Source, SourceError
from syncscan.check.fix import Draft, apply_edits, fixable
from syncscan.model import Applicability, Confidence, Edit, Finding, Fix
from syncscan.rule import rule_book
from tests.compiled import IS_COMPILED

COMMENT = "# syncscan: ignore[SYN101] gone"


def finding(*edits: Edit, line: int = 1, safe: bool = True) -> Finding:
    applicability = Applicability.SAFE if safe else Applicability.UNSAFE
    return Finding(
        "SYN101", "item-read", "a.py", line, 1, line, 2, "", "", "", Confidence.PROVED,
        fix=Fix(applicability, "", edits),
    )  # fmt: skip


def replace(line: int, start: int, end: int, text: str) -> Edit:
    return Edit(line, start, line, end, text)


EDITS = {
    "replace": ("ab\ncd\n", [finding(replace(2, 1, 3, "xyz"))], "ab\nxyz\n"),
    "insert": ("ab\n", [finding(replace(1, 2, 2, "-"))], "a-b\n"),
    "across-lines": ("ab\ncd\nef\n", [finding(Edit(1, 2, 3, 2, "+"))], "a+f\n"),
    "a-whole-line": ("ab\ncd\n", [finding(Edit(1, 1, 2, 1, ""))], "cd\n"),
    "last-line-without-end": ("ab\ncd", [finding(Edit(2, 1, 3, 1, ""))], "ab\n"),
    "two-in-one-line": ("abcd", [finding(replace(1, 1, 2, "x")), finding(replace(1, 4, 5, "yy"))], "xbcyy"),
    "columns-count-characters": ("ä€😀b\n", [finding(replace(1, 4, 5, "c"))], "ä€😀c\n"),
    "overlap-first-wins": ("abcd", [finding(replace(1, 1, 4, "x")), finding(replace(1, 3, 5, "y"))], "xd"),
    "touching-both": ("abcd", [finding(replace(1, 1, 3, "x")), finding(replace(1, 3, 5, "y"))], "xy"),
    "overlap-leaves-out-the-whole-fix": (
        "abcd\nef\n",
        [finding(replace(1, 1, 4, "x")), finding(replace(1, 3, 5, "y"), replace(2, 1, 3, "z"))],
        "xd\nef\n",
    ),
    "the-same-import-twice": (
        "a\nb\n",
        [
            finding(replace(1, 1, 1, "import x\n"), replace(2, 1, 2, "c")),
            finding(replace(1, 1, 1, "import x\n"), line=2),
        ],
        "import x\na\nc\n",
    ),
    "crlf": ("a\r\nb\r\n", [finding(replace(2, 1, 2, "c\nd"))], "a\r\nc\r\nd\r\n"),
    "mixed-line-ends": ("a\r\nb\nc\r\n", [finding(replace(2, 1, 2, "x\ny"))], "a\r\nx\ny\nc\r\n"),
    "cr": ("a\rb\r", [finding(replace(2, 1, 2, "x\ny"))], "a\rx\ry\r"),
    "form-feed-is-no-line-end": ("a\fb\nc\n", [finding(replace(2, 1, 2, "d"))], "a\fb\nd\n"),
    "line-separator-is-no-line-end": ("'\u2028'\nc\n", [finding(replace(2, 1, 2, "d"))], "'\u2028'\nd\n"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "findings", "expected"), EDITS.values(), ids=EDITS)
def test_edits(text, findings, expected):
    assert apply_edits(text, findings) == expected


def test_unsafe_fixes_are_applied_when_asked_for():
    safe, unsafe = finding(replace(1, 1, 2, "")), finding(replace(1, 1, 2, ""), safe=False)
    assert fixable([safe, unsafe, finding()], unsafe=False) == [safe]
    assert fixable([safe, unsafe, finding()], unsafe=True) == [safe, unsafe]


@settings(max_examples=200, deadline=None)
@given(
    lines=st.lists(
        st.tuples(st.text("ab \t\x0c\u2028é", max_size=8), st.sampled_from(["\n", "\r\n"])), min_size=1
    ),
    data=st.data(),
)
def test_a_text_changes_only_where_an_edit_says_so(lines, data):
    chosen = data.draw(st.integers(0, len(lines) - 1))
    line, end = lines[chosen]
    start, stop = sorted(data.draw(st.tuples(*[st.integers(0, len(line))] * 2)))
    new = data.draw(st.text("xy", max_size=3))
    before, after = ("".join(map("".join, part)) for part in (lines[:chosen], lines[chosen + 1 :]))
    expected = f"{before}{line[:start]}{new}{line[stop:]}{end}{after}"
    edit = finding(replace(chosen + 1, start + 1, stop + 1, new))
    assert apply_edits(f"{before}{line}{end}{after}", [edit]) == expected


CONTENTS = {
    "lf": f"x = 1  {COMMENT}\ny = 2\n".encode(),
    "crlf": f"x = 1  {COMMENT}\r\ny = 2\r\n".encode(),
    "cr": f"x = 1  {COMMENT}\ry = 2\r".encode(),
    "mixed": f"a = 0\r\nx = 1  {COMMENT}\ny = 2\r".encode(),
    "no-final-line-end": f"y = 2\nx = 1  {COMMENT}".encode(),
    "bom": f"\ufeffx = 'é'  {COMMENT}\n".encode(),
    "latin-1": f"# coding: latin-1\nx = 'é'  {COMMENT}\n".encode("latin-1"),
    "tabs-and-trailing-space": f"if x:\t\n\ty = 1\t {COMMENT}\n\tz = 2 \n".encode(),
}


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
def test_nothing_else_changes_in_the_file(syncscan, project, content):
    root = project({"a.py": content})
    run = syncscan("check", "--fix")
    assert run.stdout.startswith("1 finding fixed, no findings left; 1 file checked in ")
    start = content.index(b"#", 20 if content.startswith(b"# coding") else 0)
    while content[start - 1 : start] in {b" ", b"\t"}:
        start -= 1
    assert (root / "a.py").read_bytes() == content[:start] + content[content.index(b"gone") + 4 :]


@pytest.mark.skipif(IS_COMPILED, reason="compiled code follows deeper nesting")
def test_a_file_that_nests_deeply_is_fixed_where_it_does_not(syncscan, project):
    text = 'import torch\n\n\ndef zero():\n    return torch.tensor(0, device="cuda")\n\n\nx = y{}\n'.format(
        ".T" * 5000
    )
    root = project({"a.py": text})
    done = syncscan("check", "--fix", "a.py")
    assert done.status == 2
    assert (
        done.stderr
        == "syncscan: a.py: `<module>` is nested too deeply to be analysed; the rest of the file was checked\n"
    )
    assert (root / "a.py").read_text() == text.replace("torch.tensor(0,", "torch.full((), 0,")


def test_fixing_twice_changes_nothing_more(syncscan, project):
    root = project({"a.py": f"x = 1  {COMMENT}\n{COMMENT}\n{COMMENT}\ny = 2\n"})
    assert syncscan("check", "--fix").status == 0
    once = (root / "a.py").read_bytes()
    run = syncscan("check", "--fix")
    assert (once, run.stdout[:24]) == (b"x = 1\ny = 2\n", "no findings; 1 file chec")
    assert (root / "a.py").read_bytes() == once


def test_diff_shows_and_writes_nothing(syncscan, project):
    root = project({"a.py": f"x = 1  {COMMENT}\ny = 2\n", "b.py": "z = 3\n"})
    run = syncscan("check", "--diff")
    assert run.stdout == f"--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n-x = 1  {COMMENT}\n+x = 1\n y = 2\n"
    assert run.stderr == "syncscan: 1 fix in 1 file shown, nothing written\n"
    assert run.status == 1
    assert (root / "a.py").read_text() == f"x = 1  {COMMENT}\ny = 2\n"


def test_a_diff_without_a_fix_says_what_was_found(syncscan, project):
    project({"a.py": "import torch\n\nprint(torch.zeros(8, device='cuda').sum().item())\n"})
    run = syncscan("check", "--diff")
    assert (run.status, run.stdout) == (1, "")
    assert run.stderr.startswith("syncscan: no fix to show: 1 finding in 1 file; 1 file checked in ")


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
def test_a_diff_can_be_applied(syncscan, project, content):
    root = project({"a.py": content})
    diff = syncscan(
        "check", "--diff", encoding="latin-1" if content.startswith(b"# coding") else "utf-8"
    ).stdout
    encoded = diff.encode("latin-1" if content.startswith(b"# coding") else "utf-8")
    subprocess.run(["git", "apply", "-"], input=encoded, cwd=root, check=True)
    assert b"syncscan" not in (root / "a.py").read_bytes()


def test_standard_input_comes_out_fixed(syncscan, project):
    root = project({"a.py": "old = 1\n"})
    source = (
        f"x = 1  {COMMENT}\r\nimport torch\r\nt = torch.ones(1, device='cuda')\r\nprint(t.sum().item())\r\n"
    )
    run = syncscan("check", "-", "--stdin-filename", "a.py", "--fix", stdin=source.encode())
    assert run.stdout == source.replace(f"  {COMMENT}", "")
    assert run.stderr.startswith("a.py:4:7: SYN101")
    assert (run.status, (root / "a.py").read_text()) == (1, "old = 1\n")


def test_standard_input_that_needs_no_fix_comes_out_as_it_was(syncscan):
    assert syncscan("check", "-", "--fix", stdin=b"x = 1\r\n").stdout == "x = 1\r\n"


def draft(text: str, encoding: str = "utf-8") -> Draft:
    return Draft(Source(path=None, shown="a.py", module="a", text=text), text, text, encoding)


@pytest.mark.parametrize(
    ("new", "encoding", "reason"),
    [("(", "utf-8", "'(' was never closed"), ("'é'", "ascii", "'ascii' codec can't encode")],
    ids=["syntax", "encoding"],
)
def test_a_fix_that_would_break_the_file_is_left_out_and_reported(new, encoding, reason):
    file = draft("x = 1\n", encoding)
    (failure,) = file.apply([finding(replace(1, 5, 6, new))])
    assert (file.after, file.stuck) == ("x = 1\n", True)
    assert failure.message.startswith("left as it was: with the fixes of SYN101 it would not be valid (")
    assert reason in failure.message


def test_a_fix_that_would_change_the_encoding_is_left_out_and_reported(syncscan, project):
    """A comment on the second line becomes a declaration when the line above goes."""
    content = f"#!/bin/sh\n{COMMENT}\n# coding: latin-1\nx = 'é'\n".encode()
    root = project({"a.py": content})
    run = syncscan("check", "--fix")
    assert "would not be valid (its encoding would be iso-8859-1)" in run.stderr
    assert (run.status, (root / "a.py").read_bytes()) == (2, content)


def test_a_file_that_changed_meanwhile_is_left_alone():
    with pytest.raises(SourceError, match="it changed while it was checked"):
        Draft.of(draft("x = 1\n").source, b"x = 2\n")


def test_an_encoding_that_does_not_give_the_file_back_is_left_alone(syncscan, project):
    content = f"# coding: utf-7\nx = '+AOk-'  {COMMENT}\ny = '+AGE-'\n".encode()
    root = project({"a.py": content})
    run = syncscan("check", "--fix")
    assert run.stderr == (
        "syncscan: a.py: not fixed: utf-7 would not give back what is in the file; save it as UTF-8\n"
    )
    assert (run.status, (root / "a.py").read_bytes()) == (2, content)


REWRITTEN = {
    f"{rule.code}-{number}": example
    for rule in rule_book().values()
    for number, example in enumerate(rule.examples)
    if example.fixed
}


@pytest.mark.parametrize("example", REWRITTEN.values(), ids=REWRITTEN)
def test_the_fixes_of_the_rule_book_keep_line_ends_and_settle(syncscan, project, example):
    root = project({"a.py": b"\xef\xbb\xbf" + example.bad.replace("\n", "\r\n").encode()})
    assert " fixed, " in syncscan("check", "--unsafe-fixes").stdout
    after = (root / "a.py").read_bytes()
    expected = re.sub(r" +# expect: \w+", "", example.fixed).replace("\n", "\r\n").encode()
    assert re.sub(rb" +# expect: \w+", b"", after) == b"\xef\xbb\xbf" + expected
    syncscan("check", "--unsafe-fixes")
    assert (root / "a.py").read_bytes() == after


def test_a_fixed_file_parses(syncscan, project):
    root = project({"a.py": f"def f():\n    return [  {COMMENT}\n        1,\n    ]\n"})
    syncscan("check", "--fix")
    after = (root / "a.py").read_text()
    assert COMMENT not in after
    assert ast.unparse(ast.parse(after)) == "def f():\n    return [1]"

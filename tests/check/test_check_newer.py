"""A file in the syntax of a newer Python than the one that runs is skipped with a warning, and no mistake."""

from __future__ import annotations

import json
import re
import signal
import sys

import pytest

from syncscan.check import newer
from syncscan.system.workers import trial

F_STRINGS = "PEP 701 f-strings"
RUNNING = sys.version_info[:2]
BLOCKS = 'import torch\n\nlosses = torch.zeros(8, device="cuda")\nprint(losses.sum().item())\n'
SYNTAX = [
    ((3, 11), "except*", "try:\n    pass\nexcept* ValueError:\n    pass\n"),
    ((3, 11), "a star in an index", "x = {}[1, *y]\n"),
    ((3, 11), "a star in an annotation", "def f(*args: *Ts): pass\n"),
    ((3, 12), "type parameters", "def f[T](x: T) -> T:\n    return x\n"),
    ((3, 12), "type parameters", "class C[T: int, *Ts, **P]: pass\n"),
    ((3, 12), "type statements", "type X = int\n"),
    ((3, 12), F_STRINGS, 'f"{a["x"]}"\n'),
    ((3, 12), F_STRINGS, "f'{'\\n'.join(x)}'\n"),
    ((3, 12), F_STRINGS, "f'{\"\\n\".join(x)}'\n"),
    ((3, 12), F_STRINGS, 'f"""{\nx  # y\n}"""\n'),
    ((3, 12), F_STRINGS, 'f"{\nx}"\n'),
    ((3, 12), F_STRINGS, "f'{x:{y['a']}}'\n"),
    ((3, 13), "defaults of type parameters", "class C[T = int]: pass\n"),
    ((3, 14), "except without parentheses", "try:\n    pass\nexcept KeyError, IndexError:\n    pass\n"),
    ((3, 14), "except without parentheses", "try:\n    pass\nexcept* KeyError, IndexError:\n    pass\n"),
    ((3, 14), "t-strings", 't"{a}"\n'),
    ((3, 15), "unpacking in comprehensions", "[*x for x in y]\n"),
    ((3, 15), "unpacking in comprehensions", "f({*x for x in y})\n"),
    ((3, 15), "unpacking in comprehensions", "f((*x for x in y))\n"),
    ((3, 15), "unpacking in comprehensions", "{**x for x in y}\n"),
    ((3, 15), "lazy imports", "lazy import a\n"),
    ((3, 15), "lazy imports", "lazy from a import b\n"),
]
NEWEST = "lazy import a\n"


def warning(path: str, line: int, python: str, syntax: str) -> str:
    return (
        f"syncscan: warning: {path}:{line}: not checked: it uses syntax of Python {python} ({syntax}); run syncscan "
        f"with {python} or later, or leave it out with `exclude`\n"
    )


@pytest.mark.parametrize(("version", "name", "text"), SYNTAX)
def test_each_syntax_is_known(syncscan, project, version, name, text):
    project({"a.py": text})
    run = syncscan("check")
    expected = warning("a.py", 1, "{}.{}".format(*version), name) if version > RUNNING else ""
    assert run.status == 0
    assert re.sub(r"a\.py:\d+:", "a.py:1:", run.stderr) == expected


def test_the_rest_is_checked_and_the_file_is_counted_as_skipped(syncscan, project):
    project({"a.py": "x = 1\n\n" + NEWEST, "b.py": BLOCKS})
    run = syncscan("check")
    assert (run.status, run.stderr) == (1, warning("a.py", 3, "3.15", "lazy imports"))
    assert run.stdout.startswith("b.py:4:7: SYN101")
    assert " in 1 file; 1 file checked in " in run.stdout
    assert run.stdout.endswith(" s, 1 skipped, in newer syntax\n")


@pytest.mark.parametrize("arguments", [["a.py"], ["--fix"], ["--diff"], ["--exit-zero"]], ids=" ".join)
def test_it_turns_nothing_red(syncscan, project, arguments):
    root = project({"a.py": NEWEST})
    assert syncscan("check", *arguments).status == 0
    assert (root / "a.py").read_text() == NEWEST


def test_the_newest_syntax_decides(syncscan, project):
    project({"a.py": 'type X = int\nt"{a}"\nlazy import a\n[*x for x in y]\n'})
    assert "Python 3.15 (lazy imports, unpacking in comprehensions)" in syncscan("check").stderr


def test_json_names_the_python(syncscan, project):
    project({"a.py": NEWEST, "b.py": "def f(:\n"})
    files = json.loads(syncscan("check", "--output-format", "json").stdout)["files"]
    (newer,) = files["newer"]
    assert (newer["path"], newer["line"], newer["python"]) == ("a.py", 1, "3.15")
    assert newer["message"].startswith("not checked: it uses syntax of Python 3.15 (lazy imports); run ")
    assert (files["checked"], files["skipped"], [f["path"] for f in files["failed"]]) == (0, 1, ["b.py"])


def test_github_gets_a_warning(syncscan, project):
    project({"a.py": NEWEST})
    run = syncscan("check", "--output-format", "github")
    start = "::warning title=syncscan%3A not checked,file=a.py,line=1::not checked: it uses syntax of Python 3.15 "
    assert run.stdout.startswith(start)
    assert (run.status, run.stderr) == (0, "")


MISTAKES = {
    "a-mistake": "def f(:\n",
    "a-mistake-beside-it": "lazy import a\ndef f(:\n",
    "python-2": "print 'x'\n",
    "an-unknown-name-of-a-character": "'\\N{nosuch}'\n",
    "an-f-string-that-is-free-in-nothing": "f'{a b}'\n",
    "nested-without-end": "lazy import a\nx = " + "-" * 50_000 + "1\n",
    "lambdas-that-take-much-memory-to-parse": "lazy import a\nx = " + "(lambda: (yield " * 150 + "1" + "))" * 150 + "\n",
    "a-pattern-that-takes-for-ever-to-parse": "lazy import a\nmatch x:\n case " + "(" * 90 + "1" + ")" * 90 + ":\n  pass\n",
}  # fmt: skip


@pytest.mark.parametrize("text", MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_stays_one(syncscan, project, monkeypatch, capfd, text):
    monkeypatch.setattr(newer, "LONGEST", 1)
    monkeypatch.setattr(newer, "MOST_BYTES", 50 << 20)
    project({"a.py": text, "b.py": BLOCKS})
    run = syncscan("check")
    assert run.status == 2
    assert run.stderr.startswith("syncscan: a.py:")
    assert ": syntax error: " in run.stderr
    assert run.stderr.count("\n") == 1
    assert run.stdout.startswith("b.py:4:7")
    assert capfd.readouterr() == ("", "")  # of parsers that are native code


def test_a_trial_has_an_end_of_its_memory():
    assert trial(lambda: len(bytearray(100 << 20)), 5, 200 << 20) == 100 << 20
    assert trial(lambda: len(bytearray(300 << 20)), 5, 200 << 20) is None


def test_how_long_a_file_may_take_does_not_depend_on_what_else_the_machine_does():
    real, processor = trial(
        lambda: tuple(map(signal.getitimer, (signal.ITIMER_REAL, signal.ITIMER_PROF))), 5, 1 << 30
    )
    assert real == (0, 0)
    assert processor[0] > 0

"""``--add-ignores``: a comment for each finding that says why, which stays in force where a formatter comes."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from tests.check.marks import CORPUS

HEAD = 'import torch\n\nlosses = torch.zeros(8, device="cuda")\n'
WHY = ["--add-ignores", "--reason", "read once"]
MARK = "# syncscan: ignore[SYN101] read once"

PLACES = {
    "above-a-statement": ("print(losses.sum().item())\n", f"{MARK}\nprint(losses.sum().item())\n"),
    "with-its-indent": (
        "if 1:\n\tprint(losses.sum().item())\n",
        f"if 1:\n\t{MARK}\n\tprint(losses.sum().item())\n",
    ),
    "above-a-statement-of-several-lines": (
        "print(\n    1,\n    losses.sum().item(),\n)\n",
        f"{MARK}\nprint(\n    1,\n    losses.sum().item(),\n)\n",
    ),
    "one-for-several": (
        "print(losses.sum().item(), losses.tolist(), losses.min().item())\n",
        f"{MARK.replace('1]', '1, SYN102]')}\nprint(losses.sum().item(), losses.tolist(), losses.min().item())\n",
    ),
    "above-an-elif": (
        "if 1:\n    pass\nelif losses.sum().item():\n    pass\n",
        f"if 1:\n    pass\n{MARK}\nelif losses.sum().item():\n    pass\n",
    ),
    "behind-what-shares-its-line": (
        "if 1: print(losses.sum().item())\n",
        f"if 1: print(losses.sum().item())  {MARK}\n",
    ),
    "behind-another-comment": (
        "if 1: print(losses.sum().item())  # noqa: E701\n",
        f"if 1: print(losses.sum().item())  # noqa: E701  {MARK}\n",
    ),
    "above-another-one": (
        "# syncscan: ignore[SYN102] shown\nprint(losses.sum().item(), losses.tolist())\n",
        f"# syncscan: ignore[SYN102] shown\n{MARK}\nprint(losses.sum().item(), losses.tolist())\n",
    ),
    "with-other-line-ends": ("print(losses.sum().item())\r\n", f"{MARK}\r\nprint(losses.sum().item())\r\n"),
    "of-wide-characters": ("if 1: 数 = losses.sum().item()\n", f"if 1: 数 = losses.sum().item()  {MARK}\n"),
}


@pytest.mark.parametrize(("before", "after"), PLACES.values(), ids=PLACES)
def test_where_a_comment_is_written(syncscan, project, before, after):
    root = project({"a.py": HEAD + before})
    done = syncscan("check", *WHY)
    assert (root / "a.py").read_bytes().decode() == HEAD + after
    assert re.match(r"\d findings? ignored from now on, no findings left;", done.stdout)
    assert (done.stderr, done.status) == ("", 0)
    assert syncscan("check").status == 0


def test_a_diff_shows_the_comments_and_writes_nothing(syncscan, project):
    root = project({"a.py": HEAD + "print(losses.sum().item())\n"})
    done = syncscan("check", *WHY, "--diff")
    assert f"+{MARK}\n" in done.stdout
    assert done.stderr == "syncscan: comments for 1 finding in 1 file shown, nothing written\n"
    assert (root / "a.py").read_text() == HEAD + "print(losses.sum().item())\n"


def test_what_is_known_to_a_baseline_gets_no_comment(syncscan, project):
    root = project({"a.py": HEAD + "print(losses.sum().item())\n"})
    syncscan("check", "--write-baseline", "base.json")
    (root / "a.py").write_text(HEAD + "print(losses.sum().item())\nprint(losses.max().item())\n")
    syncscan("check", "--baseline", "base.json", *WHY)
    assert (root / "a.py").read_text() == (
        f"{HEAD}print(losses.sum().item())\n{MARK}\nprint(losses.max().item())\n"
    )


@pytest.mark.parametrize("reason", ["", " ", "two\nlines", "one # two", "\x1b[0m"])
def test_a_reason_that_no_comment_could_hold_is_refused(syncscan, project, reason):
    root = project({"a.py": HEAD + "print(losses.sum().item())\n"})
    done = syncscan("check", "--add-ignores", "--reason", reason)
    assert done.stderr.count("\n") == 1
    assert "reason" in done.stderr
    assert done.status == 2
    assert (root / "a.py").read_text() == HEAD + "print(losses.sum().item())\n"


@pytest.mark.long
def test_comments_stay_in_force_where_a_formatter_comes(syncscan, project):
    root = project({})
    for file in sorted(CORPUS.glob("*/*.py")):
        if file.parent.name != "suppress":  # whose programs have comments that are wrong on purpose
            text = re.sub(r" *# (expect|silent|because|at|reached|todo|false)\b.*", "", file.read_text())
            (root / f"{file.parent.name}_{file.name}").write_text(text)
    written = re.match(
        r"(\d+) findings ignored from now on, no findings left", syncscan("check", *WHY).stdout
    )
    assert written
    assert int(written[1]) > 500
    for length in (40, 120):
        config = ["--isolated", "--config", f"line-length={length}"]
        subprocess.run([sys.executable, "-m", "ruff", "format", "-q", *config, root], check=True)
        left = json.loads(syncscan("check", "--output-format", "json").stdout)["findings"]
        assert [(f["path"], f["line"], f["code"]) for f in left] == [], length

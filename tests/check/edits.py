"""Random edits that change no wait: what people and formatters do to a file that they do not mean to change."""

from __future__ import annotations

import ast
import itertools
import random
import subprocess
import sys
from pathlib import Path


def git(folder: Path, *arguments: str) -> None:
    """Run git in a folder, as somebody, whatever the settings of the machine."""
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


def commit_all(folder: Path) -> None:
    """Commit what is there, in a repository that is made where there is none."""
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "edit")


def add_lines(path: Path, chance: random.Random) -> None:
    """Comments and empty lines above a random definition, or at the top."""
    rows = path.read_text(encoding="utf-8").split("\n")
    at = chance.choice([0, *(start for start, _ in _definitions(path))])
    added = chance.choice([["", "# a remark", ""], ["# one", "# two"], ["", "", ""]])
    path.write_text("\n".join([*rows[:at], *added, *rows[at:]]), encoding="utf-8")


def add_function(path: Path, chance: random.Random) -> None:
    """A function that waits for nothing, before a random definition or at the end."""
    rows = path.read_text(encoding="utf-8").split("\n")
    at = chance.choice([len(rows), *(start for start, _ in _definitions(path))])
    name = f"added_{chance.randrange(10**9)}"
    added = ["", "", f"def {name}(count):", "    return [count, count + 1]", "", ""]
    path.write_text("\n".join([*rows[:at], *added, *rows[at:]]), encoding="utf-8")


def move_definition(path: Path, chance: random.Random) -> None:
    """A random function or class at the place of the next one, and that at its place."""
    rows = path.read_text(encoding="utf-8").split("\n")
    places = _definitions(path)
    pairs = [(a, b) for a, b in itertools.pairwise(places) if a[1] <= b[0]]
    if pairs:
        (a, b), (c, d) = chance.choice(pairs)
        rows[a:d] = [*rows[c:d], *rows[b:c], *rows[a:b]]
        path.write_text("\n".join(rows), encoding="utf-8")


def reformat(path: Path, chance: random.Random) -> None:
    """What ruff makes of it, with other settings each time."""
    settings = [
        f"line-length={chance.choice([40, 60, 79, 88, 110, 160])}",
        f"indent-width={chance.choice([2, 4])}",
        f"format.quote-style='{chance.choice(['single', 'double', 'preserve'])}'",
        f"format.skip-magic-trailing-comma={chance.choice(['true', 'false'])}",
    ]
    options = [part for setting in settings for part in ("--config", setting)]
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--quiet", *options, str(path)]
    subprocess.run(command, check=True)


def rename(path: Path, chance: random.Random) -> None:
    """Another name, in another folder perhaps; git is told or finds out, or the file is only moved."""
    target = path.parent / f"renamed_{chance.randrange(10**9)}.py"
    if chance.random() < 0.5:
        git(path.parent, "add", path.name)
        git(path.parent, "mv", path.name, target.name)
        if chance.random() < 0.5:
            git(path.parent, "commit", "--quiet", "--all", "--message", "rename")
    else:
        path.rename(target)


EDITS = (add_lines, add_function, move_definition, reformat, reformat, rename)


def edit(folder: Path, chance: random.Random) -> None:
    """One random edit of a random file."""
    path = chance.choice(sorted(folder.glob("*.py")))
    chance.choice(EDITS)(path, chance)


def _definitions(path: Path) -> list[tuple[int, int]]:
    """The rows of the functions and classes of a file, decorators and all: the first one and the one after."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return [
        (min([node.lineno, *(d.lineno for d in node.decorator_list)]) - 1, node.end_lineno or 0)
        for node in tree.body
        if isinstance(node, kinds)
    ]

"""How many known findings become new where a project is edited without a change of what waits.

    python benchmarks/baseline.py FOLDER [--edits 200] [--batch 50] [--seed 1]

FOLDER is copied into a repository, its findings become a baseline, and files with findings are edited at random: lines and
functions are added, definitions change places, ruff formats files with other settings, files are renamed (in git and
without). After each batch of edits one check says what is new,
and whether it was known: a rename breaks the imports of other files, in which other things are found then.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from syncscan.check.baseline import normalised
from tests.check.edits import EDITS, commit_all, rename

Key = tuple[str, str, str, str]  # path, function, code and normalised expression

OPTIONS = "--isolated --environment none --output-format json"
CHECK = [sys.executable, "-m", "syncscan", "check", *OPTIONS.split()]


def main() -> None:
    """Print the rate."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("source", type=Path)
    parser.add_argument("--edits", type=int, default=200)
    parser.add_argument("--batch", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)  # noqa: S311 (no secret)
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch).resolve() / options.source.name
        shutil.copytree(options.source, root)
        subprocess.run(
            [*CHECK, "--write-baseline", "base.json"], cwd=root, stdout=subprocess.DEVNULL, check=True
        )
        entries = json.loads((root / "base.json").read_text())[:-1]
        known = sum(entry["count"] for entry in entries)
        commit_all(root)
        by_key = {(entry["path"], entry["function"], entry["code"], entry["expression"]) for entry in entries}
        was = {root / entry["path"]: entry["path"] for entry in entries}  # the first path of each file
        for number in range(1, options.edits + 1):
            path = chance.choice(sorted(was))
            before = set(path.parent.glob("renamed_*.py"))
            edit = chance.choice([one for one in EDITS if one is not rename or path.name != "__init__.py"])
            edit(path, chance)
            if not path.exists():
                was[(set(path.parent.glob("renamed_*.py")) - before).pop()] = was.pop(path)
            if number % options.batch == 0 or number == options.edits:
                report(root, number, known, by_key, was)


def report(root: Path, number: int, known: int, by_key: set[Key], was: dict[Path, str]) -> None:
    """Check, and print how many findings are new, and how many of them were known."""
    command = [*CHECK, "--baseline", "base.json"]
    done = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, check=False)
    found = json.loads(done.stdout)["findings"]
    lost, others = [], []
    for one in found:
        first = was.get(root / one["path"], one["path"])
        key = (first, one["function"], one["code"], normalised(one["expression"]))
        (lost if key in by_key else others).append(one)
    print(
        f"{number} edits: {len(lost)} of {known} known findings became new: {100 * (1 - len(lost) / known):.2f}% stayed"
    )
    print(
        f"{len(others)} findings that were not there before (renames break the imports of other files)",
        flush=True,
    )
    for one in lost:
        print(one["path"], one["function"], one["code"], one["expression"])


if __name__ == "__main__":
    main()

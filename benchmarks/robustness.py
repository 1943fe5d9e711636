"""Checks all of CPython's own tests and of torch's Python source, and counts what could not be analysed.

    python benchmarks/robustness.py [FOLDER ...]

CPython's tests hold every odd form of the language; some of them are no Python on purpose. For each folder
this prints the files, the failures by their kind, and every defect of syncscan; the exit status is 1 if
there is one.
"""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
import sysconfig
import time
from collections import Counter
from pathlib import Path
from typing import Any


def main() -> None:
    """Print the counts for each folder."""
    folders = [Path(name) for name in sys.argv[1:]] or default_folders()
    defects = [line for folder in folders for line in report(folder)]
    sys.exit(1 if defects else 0)


def default_folders() -> list[Path]:
    """The tests of this Python, and torch where it is installed."""
    folders = [Path(sysconfig.get_path("stdlib")) / "test"]
    torch = importlib.util.find_spec("torch")
    if torch is not None and torch.submodule_search_locations:
        folders += map(Path, torch.submodule_search_locations)
    return folders


def report(folder: Path) -> list[str]:
    """Check a folder and print what came of it; the lines that tell of defects of syncscan."""
    start = time.perf_counter()
    answer = check(folder)
    seconds = time.perf_counter() - start
    failures = answer["files"]["failed"]
    print(
        f"{folder}: {answer['files']['checked']} files checked, {len(answer['findings'])} findings, {seconds:.0f} s"
    )
    for kind, count in Counter(kind_of(failure["message"]) for failure in failures).most_common():
        print(f"  {count:4} {kind}")
    defects = [
        f"{f['path']}:{f['line']}: {f['message']}" for f in failures if "a defect of syncscan" in f["message"]
    ]
    print(*(f"  {line}" for line in defects), sep="\n", end="\n" if defects else "")
    return defects


def check(folder: Path) -> dict[str, Any]:
    """What ``syncscan check`` says of a folder."""
    command = [sys.executable, "-m", "syncscan", "check", "--isolated", "--format", "json", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in {0, 1, 2} or not done.stdout:
        sys.exit(f"syncscan check {folder} ended with status {done.returncode}:\n{done.stderr}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def kind_of(message: str) -> str:
    """A message without what differs between files."""
    if "a defect of syncscan" in message:
        return "defect of syncscan"
    return (
        re.split(r"[:;`]", message)[0].strip()
        if not message.startswith("`")
        else "function nested too deeply"
    )


if __name__ == "__main__":
    main()

"""Applies every fix to real files, each alone and all together, and looks at what is written.

    python -m benchmarks.fixed_files [--files N] [--form NAME] FOLDER...

takes N Python files that mention torch from the folders, at random, in batches that are checked as projects of their
own, each in four forms: as it is, with CRLF, with a byte order mark and form feeds, and indented by tabs. ``--form``
runs one of them alone. A fix is wrong where the file no longer parses, where a byte outside of its edits changed, where
a second run changes the file again, or where line ends, mark or encoding are others.
"""

from __future__ import annotations

import argparse
import ast
import itertools
import json
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

BATCH = 100  # files
MOST_BYTES = 200_000


def as_it_is(text: str) -> str:
    """Return the text."""
    return text


def with_crlf(text: str) -> str:
    """Return the text with the line ends of Windows."""
    return text.replace("\n", "\r\n")


def with_mark_and_form_feeds(text: str) -> str:
    """Return the text with a byte order mark, and a form feed before each definition at the top."""
    return "\ufeff" + re.sub(r"^(?=def |class )", "\f", text, flags=re.MULTILINE)


def with_tabs(text: str) -> str:
    """Return the text with tabs for four spaces at the begin of a line."""
    return re.sub(r"^(?: {4})+", lambda found: "\t" * (len(found[0]) // 4), text, flags=re.MULTILINE)


FORMS: list[Callable[[str], str]] = [as_it_is, with_crlf, with_mark_and_form_feeds, with_tabs]


def files_of(folders: list[Path], number: int) -> list[str]:
    """Return the texts of some files that parse in every form."""
    paths = sorted(path for folder in folders for path in folder.rglob("*.py"))
    random.Random(1).shuffle(paths)  # noqa: S311 (the same files in every run)
    found = []
    for path in paths:
        try:
            text = path.read_bytes().decode("utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        usable = (
            len(text) < MOST_BYTES and "torch" in text and not text.startswith("\ufeff") and "\r" not in text
        )
        if usable and all(parses(form(text)) for form in FORMS):
            found.append(text)
        if len(found) == number:
            break
    return found


def parses(text: str) -> bool:
    """Return whether a text is Python."""
    try:
        ast.parse(text.encode())
    except (SyntaxError, ValueError):
        return False
    return True


def check(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Check a folder as a project of its own."""
    command = [
        sys.executable,
        "-m",
        "syncscan",
        "check",
        "--environment",
        "none",
        "--no-cache",
        "--output-format",
        "json",
        *options,
        ".",
    ]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def faults(folder: Path, form: Callable[[str], str], texts: list[str], counts: Counter[str]) -> Iterator[str]:
    """Yield what is wrong with the fixes of one batch in one form."""
    before = {}
    for number, text in enumerate(texts):
        before[f"file{number}.py"] = form(text).encode()
    for name, content in before.items():
        (folder / name).write_bytes(content)
    told = json.loads(check(folder).stdout)["findings"]
    fixes = [(each["path"], each["fix"]["edits"]) for each in told if each["fix"]["edits"]]
    counts["fixes"] += len(fixes)
    for name, edits in fixes:
        alone = applied(before[name], edits)
        if alone is None or not parses(alone.decode()):
            yield f"{name}: a fix alone leaves what is no Python: {edits}"
    done = check(folder, "--fix", "--unsafe-fixes")
    if done.returncode not in {0, 1} or done.stderr:
        yield f"--fix ends with {done.returncode}: {done.stderr}"
    after = {name: (folder / name).read_bytes() for name in before}
    for name, content in before.items():
        if after[name] != content:
            counts["files changed"] += 1
            yield from wrong(
                name, content, after[name], [e for path, es in fixes if path == name for e in es]
            )
    counts["rounds"] += 1
    for _ in range(5):  # what one fix leaves may let another apply
        last = {name: (folder / name).read_bytes() for name in before}
        check(folder, "--fix", "--unsafe-fixes")
        now = {name: (folder / name).read_bytes() for name in before}
        if now == last:
            break
        for name in before:
            if not parses(now[name].decode()):
                yield f"{name}: is no Python after another round"
    else:
        yield "the fixes never come to an end"


def applied(content: bytes, edits: list[dict[str, object]]) -> bytes | None:
    """Return a file after the edits of one fix; None where they overlap or lie outside."""
    text = content.decode("utf-8-sig")
    mark = content[: len(content) - len(text.encode())]
    starts = [0, *(found.end() for found in re.finditer(r"\r\n|\r|\n", text))]
    places = sorted(
        (starts[e["line"] - 1] + e["column"] - 1, starts[e["end_line"] - 1] + e["end_column"] - 1, e["text"])  # type: ignore[operator]
        for e in edits
    )
    if any(first[1] > second[0] for first, second in itertools.pairwise(places)):
        return None
    for start, end, new in reversed(places):
        text = text[:start] + str(new) + text[end:]
    return mark + text.encode()


def wrong(name: str, before: bytes, after: bytes, edits: list[dict[str, object]]) -> Iterator[str]:
    """Yield what is wrong with a file that was fixed."""
    if not parses(after.decode()):
        yield f"{name}: is no Python any more"
    if before.startswith(b"\xef\xbb\xbf") != after.startswith(b"\xef\xbb\xbf"):
        yield f"{name}: the byte order mark is another"
    if b"\r\n" in before and re.search(rb"(?<!\r)\n", after):
        yield f"{name}: a line end is another"
    touched = {line for e in edits for line in range(int(str(e["line"])), int(str(e["end_line"])) + 1)}
    kept = [line for number, line in enumerate(before.splitlines(keepends=True), 1) if number not in touched]
    lines = iter(after.splitlines(keepends=True))
    if not all(any(line == other for other in lines) for line in kept):
        yield f"{name}: a line outside of the edits changed"


def main() -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--form", choices=[form.__name__ for form in FORMS], help="run this form alone")
    given = parser.parse_args()
    texts = files_of(given.folders, given.files)
    found = 0
    for form in FORMS:
        if given.form not in (None, form.__name__):
            continue
        counts: Counter[str] = Counter()
        for start in range(0, len(texts), BATCH):
            with tempfile.TemporaryDirectory() as temporary:
                for fault in faults(Path(temporary), form, texts[start : start + BATCH], counts):
                    found += 1
                    print(f"{form.__name__}: batch {start // BATCH}: {fault[:400]}", flush=True)
        print(
            f"{form.__name__:26} {len(texts)} files, {counts['fixes']} fixes, {counts['files changed']} files changed",
            flush=True,
        )
    print(f"{found} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

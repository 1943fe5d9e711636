"""The programs of the corpus, and the marks in their comments that say what `syncscan check` must find.

A program is a file below ``tests/check/corpus/THEME/``, or a folder there where it has several files or
settings of its own. It is checked whole, from ``--min-confidence assumed`` on. The marks:

    # expect: SYN101, SYN302   found on this line, from the default confidence on
    # expect: SYN101 (assumed)   exactly so sure: assumed, inferred or proved; beside it when: step, once, test or unknown
    # expect: SYN101 `x.sum().item()`   the expression
    # silent   nothing is found on this line, and that is the point; anything may follow
    # todo: SYN101   waits, and is not found: a known gap, which fails when it is found
    # false: SYN101   does not wait, and is found: a known false alarm, which fails when it is not found

Several marks may stand on a line. What is on no mark must not be found. On the lines below an expectation, with nothing else on them:

    # because: made: `torch.zeros(n)` places the tensor on the GPU   the whole chain of evidence, one line a step, in order
    # reached: Model.forward > longest   the chain of calls through which a step reaches it

``made`` is a place: the line that ends in ``# at: made``, in any file of the program. A file whose first
line is ``# python: 3.12`` is for that version of Python, and later ones.

``python -m tests.check.marks`` counts programs and marks.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"

_MARK = re.compile(r"# (expect|todo|false): ((?:SYN\d{3}(?: \([a-z, ]+\))?(?: `[^`]*`)?(?:, )?)+)")
_ITEM = re.compile(r"(SYN\d{3})(?: \(([a-z, ]+)\))?(?: `([^`]*)`)?")
_SILENT = re.compile(r"# silent\b")
_PLACE = re.compile(r"# at: (\w+)$")
_BECAUSE = re.compile(r"\s*# because: (\w+): (.+)")
_REACHED = re.compile(r"\s*# reached: (.+)")
_LOOKS_LIKE_ONE = re.compile(r"# (expect|todo|false|because|reached|at)\b")
_PYTHON = re.compile(r"# python: 3\.(\d+)\n")

Line = tuple[str, int]


@dataclass
class Expected:
    """One finding that a mark speaks of."""

    path: str
    line: int
    verb: str
    code: str
    sure: str = ""  # "" is anything from the default on
    when: str = ""
    expression: str = ""
    because: list[tuple[str, str]] = field(default_factory=list)
    reached: list[str] = field(default_factory=list)


@dataclass
class Program:
    """A program and all that its marks say."""

    title: str  # its theme and its name
    files: dict[str, str]
    python: int = 0  # the least minor version of Python 3
    expected: list[Expected] = field(default_factory=list)
    silent: list[Line] = field(default_factory=list)
    places: dict[str, Line] = field(default_factory=dict)

    def counts(self) -> Counter[str]:
        found = Counter(one.verb for one in self.expected)
        found["silent"] = len(self.silent)
        found["because"] = sum(len(one.because) for one in self.expected)
        found["reached"] = sum(bool(one.reached) for one in self.expected)
        found["confidence or time"] = sum(bool(one.sure) + bool(one.when) for one in self.expected)
        found["expression"] = sum(bool(one.expression) for one in self.expected)
        return found


def programs() -> list[Program]:
    """All of them, in order."""
    paths = [path for path in sorted(CORPUS.glob("*/*")) if path.name != "__pycache__"]
    return [program(path) for path in paths if path.suffix == ".py" or path.is_dir()]


def program(path: Path) -> Program:
    """One program, which is a file or a folder."""
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    top = path if path.is_dir() else path.parent
    texts = {
        file.relative_to(top).as_posix(): file.read_text(encoding="utf-8")
        for file in files
        if file.suffix in {".py", ".toml"}
    }
    return read(f"{path.parent.name}/{path.stem}", texts)


def read(title: str, files: dict[str, str]) -> Program:
    """A program with all that the marks in its files say; ValueError for what looks like a mark and is none."""
    found = Program(title, files)
    for name, text in files.items():
        _read_marks(found, name, text)
    return found


def _read_marks(into: Program, path: str, text: str) -> None:
    if version := _PYTHON.match(text):
        into.python = int(version[1])
    last: list[Expected] = []  # of the line above, for what follows it
    for number, line in enumerate(text.splitlines(), 1):
        place, marks = _PLACE.search(line), _MARK.findall(line)
        if place:
            into.places[place[1]] = (path, number)
        if (because := _BECAUSE.fullmatch(line)) and last:
            last[-1].because.append((because[1], because[2]))
        elif (reached := _REACHED.fullmatch(line)) and last:
            last[-1].reached = reached[1].split(" > ")
        elif marks:
            last = [
                _expected(path, number, verb, *item) for verb, rest in marks for item in _ITEM.findall(rest)
            ]
            into.expected += last
        elif _SILENT.search(line):
            into.silent.append((path, number))
        elif _LOOKS_LIKE_ONE.search(line) and not place:
            raise ValueError(f"{into.title}: {path}:{number}: not a mark: {line.strip()}")


def _expected(path: str, line: int, verb: str, code: str, words: str, expression: str) -> Expected:
    one = Expected(path, line, verb, code, expression=expression)
    for word in filter(None, words.split(", ")):
        if word in {"assumed", "inferred", "proved"}:
            one.sure = word
        elif word in {"step", "once", "test", "unknown"}:
            one.when = word
        else:
            raise ValueError(f"{path}:{line}: neither a confidence nor a time: {word}")
    return one


def main() -> None:
    """Print how many programs and marks there are, by theme."""
    total: Counter[str] = Counter()
    themes: dict[str, Counter[str]] = {}
    for one in programs():
        counts = one.counts() + Counter(programs=1)
        total += counts
        themes.setdefault(one.title.partition("/")[0], Counter()).update(counts)
    for name, counts in (*themes.items(), ("all", total)):
        told = ", ".join(f"{counts[kind]} {kind}" for kind in total if counts[kind])
        print(f"{name}: {told}")  # noqa: T201 (it is a command)


if __name__ == "__main__":
    main()

"""Damages the cache in many ways, and compares what a check or a proof then prints with what one without a cache prints.

python -m benchmarks.damaged_store [NUMBER OF EACH WAY]
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

FILES = {
    "models.py": "import torch\n\n\nclass Runner:\n    def __init__(self):\n"
    "        self.lens = torch.zeros(8, device='cuda')\n\n    def step(self):\n        return self.lens.max().item()\n",
    "main.py": "from models import Runner\nfrom other import f\n\nrunner = Runner()\n"
    "print(runner.step(), runner.lens.tolist())\n\n\ndef run(x):\n    print(f(x), runner.step(), x.shape)\n",
    "other.py": "import torch\n\n\ndef f(x=None):\n    x = torch.ones(3).cuda()\n    if x.sum():\n        return x.cpu()\n",
}
# The edit of a body, after which the walks of the other functions still hold.
EDITS: tuple[str, ...] = ("", "    print(bool(runner.lens.any()))\n")
COMMANDS = {"check": ("check",), "proof": ("prove", "main:run")}
Check = Callable[[int, bool], object]  # what a command finds after an edit, with the cache or without


def entries(folder: Path) -> list[Path]:
    """Return the files below a folder."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def flip_bits(path: Path, _others: list[Path], draw: random.Random) -> None:
    """Flip some bits."""
    data = bytearray(path.read_bytes())
    for _ in range(draw.choice((1, 3, 50))):
        if data:
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    path.write_bytes(data)


def truncate(path: Path, _others: list[Path], draw: random.Random) -> None:
    """Cut the end off."""
    os.truncate(path, draw.choice((0, 1, draw.randrange(path.stat().st_size + 1))))


def lengthen(path: Path, _others: list[Path], draw: random.Random) -> None:
    """Add something to the end."""
    with path.open("ab") as file:
        file.write(draw.choice((b"\0", b"{}", b"\n", b"[" * 100_000, path.read_bytes())))


def swap(path: Path, others: list[Path], draw: random.Random) -> None:
    """Exchange two files."""
    other = draw.choice(others)
    first, second = path.read_bytes(), other.read_bytes()
    path.write_bytes(second)
    other.write_bytes(first)


def say_other_versions(path: Path, _others: list[Path], draw: random.Random) -> None:
    """Write other digits."""
    path.write_bytes(path.read_bytes().replace(b"1", b"2", draw.choice((1, -1))))


def grow_beyond_bounds(path: Path, _others: list[Path], _draw: random.Random) -> None:
    """Make a file of 2 GiB that takes no room."""
    os.truncate(path, 1 << 31)


def turn_into_a_folder(path: Path, _others: list[Path], _draw: random.Random) -> None:
    """Put a folder in its place."""
    path.unlink()
    path.mkdir()


def turn_into_a_link(path: Path, _others: list[Path], draw: random.Random) -> None:
    """Put a link in its place, to what never ends, to nothing, or to itself."""
    path.unlink()
    path.symlink_to(draw.choice(("/dev/zero", "/nonexistent", path.name)))


def turn_into_a_pipe(path: Path, _others: list[Path], _draw: random.Random) -> None:
    """Put a pipe in its place."""
    path.unlink()
    os.mkfifo(path)


def put_values_elsewhere(path: Path, _others: list[Path], draw: random.Random) -> None:
    """Plain data of the right form and of another meaning."""
    text = path.read_bytes()
    words = [b"null", b"-1", b"1e999", b'"x"', b"[]", b"{}", b"9" * 400, b"true"]
    at = draw.randrange(max(len(text), 1))
    path.write_bytes(text[:at] + draw.choice(words) + text[at + draw.choice((0, 1, 8)) :])


WAYS = [
    flip_bits, truncate, lengthen, swap, say_other_versions, grow_beyond_bounds, turn_into_a_folder,
    turn_into_a_link, turn_into_a_pipe, put_values_elsewhere,
]  # fmt: skip


def trials(
    way: Callable[[Path, list[Path], random.Random], None], number: int, folder: Path, check: Check
) -> Iterator[bool]:
    """Yield for each of a number of damages whether two runs after it print what a run without a cache prints."""
    cold = [check(edit, False) for edit in range(len(EDITS))]
    cache, kept = folder / "cache", folder / "kept"
    check(0, True)
    cache.rename(kept)
    draw = random.Random(way.__name__)  # noqa: S311 (the same damages in every run)
    for trial in range(number):
        shutil.copytree(kept, cache)
        others = entries(cache)
        way(draw.choice(others), others, draw)
        edit = trial % len(EDITS)
        yield check(edit, True) == check(edit, True) == cold[edit]  # the second reads what the first kept
        shutil.rmtree(cache)
    shutil.rmtree(kept)


def mixtures(number: int, folder: Path, check: Check) -> Iterator[bool]:
    """Make a cache of entries of two caches, one for each edit; yield whether runs after it print what they should."""
    cold = [check(edit, False) for edit in range(len(EDITS))]
    cache = folder / "cache"
    versions = [folder / f"kept-{edit}" for edit in range(len(EDITS))]
    for edit, version in enumerate(versions):
        check(edit, True)
        cache.rename(version)
    names = sorted({path.name for version in versions for path in entries(version)})
    draw = random.Random("mixtures")  # noqa: S311 (the same mixtures in every run)
    for trial in range(number):
        cache.mkdir()
        for name in names:
            path = draw.choice(versions) / name  # an entry of one version alone may be missing
            if path.exists():
                shutil.copy(path, cache)
        order = [trial % len(EDITS), 1 - trial % len(EDITS)]
        yield [check(edit, True) for edit in order] == [cold[edit] for edit in order]
        shutil.rmtree(cache)
    for version in versions:
        shutil.rmtree(version)


def kills(number: int, folder: Path, check: Check, command: str) -> Iterator[bool]:
    """Kill runs at moments spread over the time that one takes; yield whether the next one prints what it should.

    Every second run begins with an empty cache; the others, with that of the run before, after another edit.
    """
    cold = [check(edit, False) for edit in range(len(EDITS))]
    began = time.monotonic()
    subprocess.run(_cached(folder, command), cwd=folder, capture_output=True, check=False)
    whole = time.monotonic() - began
    for trial in range(number):
        edit = trial // 2 % len(EDITS)
        if trial % 2:
            shutil.rmtree(folder / "cache", ignore_errors=True)
        write(folder, edit)
        with contextlib.suppress(subprocess.TimeoutExpired):  # killed
            after = whole * (trial + 1) / (number + 1)
            subprocess.run(
                _cached(folder, command), cwd=folder, capture_output=True, timeout=after, check=False
            )
        yield check(edit, True) == cold[edit] and check(1 - edit, True) == cold[1 - edit]


def pairs(number: int, folder: Path, check: Check, command: str) -> Iterator[bool]:
    """Run a command twice at once; yield whether both, and the next one, print what they should, and nothing else."""
    cold = check(0, False)
    for trial in range(number):
        if trial % 2:
            shutil.rmtree(folder / "cache", ignore_errors=True)
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        started = [subprocess.Popen(_cached(folder, command), cwd=folder, **pipes) for _ in range(2)]
        told = [process.communicate() for process in started]
        printed = [err or found(out) for out, err in told]
        yield [*printed, check(0, True)] == [cold] * 3


def write(folder: Path, edit: int) -> None:
    """Write the edited file."""
    (folder / "main.py").write_text(FILES["main.py"] + EDITS[edit])


def arguments(command: str, *options: object) -> list[object]:
    """Return the arguments of syncscan for a command on the files."""
    return [*COMMANDS[command], "--output-format", "json", *options, *FILES]


def found(output: str | bytes) -> object:
    """Return what a run found: the report without the time that it took."""
    return {name: value for name, value in json.loads(output).items() if name != "timing"}


def _cached(folder: Path, command: str) -> list[str]:
    given = arguments(command, "--cache-dir", folder / "cache")
    return [sys.executable, "-m", "syncscan", *map(str, given)]


def main(number: int) -> int:
    """Run and print."""
    wrong = sum(_count(command, number) for command in COMMANDS)
    return 1 if wrong else 0


def _count(command: str, number: int) -> int:
    """Print the trials of a command, and return how many had another result."""
    runs: list[tuple[str, Callable[[Path, Check], Iterator[bool]]]] = [
        ("kills", lambda folder, check: kills(3 * number // 2, folder, check, command)),
        ("pairs", lambda folder, check: pairs(number // 2, folder, check, command)),
        ("mixtures", functools.partial(mixtures, number)),
        *((way.__name__, functools.partial(trials, way, number)) for way in WAYS),
    ]
    wrong = 0
    for name, run in runs:
        with _project() as folder:
            told = list(run(folder, functools.partial(_check, folder, command)))
        wrong += told.count(False)
        print(f"{command:6}{name:22} {len(told)}, {told.count(False)} with another result", flush=True)
    return wrong


@contextlib.contextmanager
def _project() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as temporary:
        for name, text in FILES.items():
            (Path(temporary) / name).write_text(text)
        yield Path(temporary)


def _check(folder: Path, command: str, edit: int, cached: bool) -> object:
    write(folder, edit)
    kept = ("--cache-dir", "cache") if cached else ("--no-cache",)
    run = [sys.executable, "-m", "syncscan", *map(str, arguments(command, *kept))]
    done = subprocess.run(run, cwd=folder, capture_output=True, text=True, check=False)
    return (done.returncode, done.stderr) if done.returncode != 1 or done.stderr else found(done.stdout)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 20))

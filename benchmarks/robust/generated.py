"""Files to check that are made by chance, written into folders where they can be looked at afterwards."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from benchmarks.robust.mutants import mutant, parse, place_tensors
from syncscan.check.files import SourceError, read_source

_BATCH = 250  # files in one folder: enough for several processes
Folders = Iterator[tuple[str, Path]]


def mutants(sources: Sequence[Path], count: int, seed: int, cache: Path) -> Folders:
    """Folders with mutants of the files of these folders, each under its own path, next to its neighbours."""
    files = sorted((path, source) for source in sources for path in source.rglob("*.py"))
    chosen = sorted(Random(seed).sample(files, min(count, len(files))))  # noqa: S311 (no secret)
    for start in range(0, len(chosen), _BATCH):
        batch = chosen[start : start + _BATCH]
        name = f"mutants-{seed}/{start:05}"
        yield name, _written(cache / name, _mutants(batch, seed))


def _mutants(batch: Sequence[tuple[Path, Path]], seed: int) -> Iterator[tuple[Path, str]]:
    texts = {path: _text(path, source) for path, source in batch}
    for path, source in batch:
        random = Random(f"{seed} {path.relative_to(source)}")  # noqa: S311 (as above)
        donor = texts[random.choice(batch)[0]]
        yield Path(f"of-{source.name}") / path.relative_to(source), mutant(texts[path], donor, random)


def _text(path: Path, source: Path) -> str:
    try:
        return read_source(path, source, {}).text
    except SourceError:
        return "pass\n"


def programs(count: int, seed: int, cache: Path) -> Folders:
    """Folders with programs by hypothesmith, every second one with tensors on the GPU in it."""
    for start in range(0, count, _BATCH):
        name = f"programs-{seed}/{start:05}"
        yield name, _written(cache / name, _programs(min(_BATCH, count - start), seed + start))


def _programs(count: int, seed: int) -> Iterator[tuple[Path, str]]:
    random = Random(seed)  # noqa: S311 (as above)
    for number, text in enumerate(_made_up(count, seed)):
        with_tensors = place_tensors(text, "", random) if number % 2 else text
        yield Path(f"p{number:03}.py"), with_tensors if parse(with_tensors) else text


def _made_up(count: int, seed: int) -> list[str]:
    """That many different programs, by each of the two ways in which hypothesmith makes them."""
    import hypothesis  # noqa: PLC0415 (only this needs them)
    import hypothesmith  # noqa: PLC0415 (only on a machine that has it)

    made: dict[str, None] = {}

    def note(text: str) -> None:
        made[text] = None

    rounds = 0
    while len(made) < count:
        make = hypothesmith.from_grammar() if rounds % 2 else hypothesmith.from_node()
        settings = hypothesis.settings(
            max_examples=50,
            database=None,
            deadline=None,
            phases=[hypothesis.Phase.generate],
            suppress_health_check=list(hypothesis.HealthCheck),
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            hypothesis.seed(seed * 1000 + rounds)(settings(hypothesis.given(make)(note)))()
        rounds += 1
    return list(made)[:count]


def _written(folder: Path, files: Iterator[tuple[Path, str]]) -> Path:
    """The folder, with these files and no others."""
    shutil.rmtree(folder, ignore_errors=True)
    for path, text in files:
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode(errors="replace"))
    return folder

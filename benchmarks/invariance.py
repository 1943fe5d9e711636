"""Whether the findings are the same under other names, in another order of files and functions, and for other hash seeds.

    python -m benchmarks.invariance vllm==0.19.0:vllm/v1 sglang==0.5.10:sglang/srt/layers

needs `pip install -e ".[bench]"`. A project is a release, which pip downloads, or a folder, with a folder inside it after a
colon. Of each project the findings are compared with those of
- the files in two other orders;
- the folders and modules under names that put them in the opposite order;
- the functions and methods that stand next to one another, in another order;
each in two processes of different hash seeds. It ends with status 1 where anything differs.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from benchmarks import releases
from benchmarks.edits import read
from syncscan.check.engine import check_sources
from syncscan.check.files import Source
from syncscan.model import Conventions

Found = Counter[tuple[str, ...]]
SEEDS = ("1", "2")


def main() -> None:
    """Print for each project and variant how many findings there are, and how many differ."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("projects", nargs="+", metavar="PROJECT")
    parser.add_argument("--cache", type=Path, default=releases.CACHE, help="where releases are kept")
    parser.add_argument("--seed", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.seed is not None:
        same = [compared(project, options.cache) for project in options.projects]
        sys.exit(not all(same))
    command = [sys.executable, "-m", "benchmarks.invariance", *sys.argv[1:], "--seed"]
    runs = [
        subprocess.run(
            [*command, seed],
            check=False,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
        )
        for seed in SEEDS
    ]
    for seed, run in zip(SEEDS, runs, strict=True):
        print(f"hash seed {seed}\n{run.stdout}{run.stderr}")
    same = len({run.stdout for run in runs}) == 1
    print("the hash seeds agree" if same else "THE HASH SEEDS DIFFER")
    sys.exit(not same or any(run.returncode for run in runs))


def compared(project: str, cache: Path) -> bool:
    """Return whether every variant of a project has the same findings; print what differs."""
    with tempfile.TemporaryDirectory() as scratch:
        sources = [*read(releases.copied(project, cache, Path(scratch)))]
    known = found(sources)
    digest = hashlib.sha256(repr(sorted(known.items())).encode()).hexdigest()[:12]
    print(f"{project}: {len(sources)} files, {known.total()} findings, digest {digest}")
    variants = {"shuffled": found(shuffled(sources, 1)), "shuffled again": found(shuffled(sources, 2))}
    names = new_names(sources)
    variants[f"{len(names)} names of modules and folders changed"] = found(
        renamed(sources, names), {new: old for old, new in names.items()}
    )
    moved = [permuted(source) for source in sources]
    count = sum(one is not other for one, other in zip(sources, moved, strict=True))
    variants[f"functions of {count} files permuted"] = found(moved)
    for title, other in variants.items():
        gone, new = known - other, other - known
        print(f"  {title}: {gone.total()} gone, {new.total()} new")
        for sign, some in (("-", gone), ("+", new)):
            for finding in sorted(some)[:5]:
                print(f"    {sign} {' '.join(finding)}")
    return all(other == known for other in variants.values())


def found(sources: Sequence[Source], names: Mapping[str, str] | None = None) -> Found:
    """Return the findings under the names that modules had, by what does not depend on lines."""
    before = names or {}
    modules = {
        source.shown: ".".join(before.get(part, part) for part in source.module.split("."))
        for source in sources
    }
    return Counter(
        (modules[each.path], each.function, each.code, each.expression, each.confidence.name)
        for each in check_sources(sources, None, Conventions(), lambda *_: None, 1).findings
    )


def shuffled(sources: Sequence[Source], seed: int) -> list[Source]:
    """Return the files in another order."""
    return random.Random(seed).sample(sources, len(sources))  # noqa: S311 (an order, no secret)


def new_names(sources: Sequence[Source]) -> dict[str, str]:
    """Return a new name for each folder and module below the root, in the opposite order.

    What says something to the analysis, such as the name of a test, stays, and what ``import a.b`` names.
    """
    trees = [ast.parse(source.text) for source in sources]
    kept = {
        part
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
        for part in alias.name.split(".")
    }
    parts = {part for source in sources for part in source.module.split(".")[1:]} - kept
    names = sorted(part for part in parts if "test" not in part)
    return {name: f"m{len(names) - place:04}_{name}" for place, name in enumerate(names)}


def renamed(sources: Sequence[Source], names: Mapping[str, str]) -> list[Source]:
    """Return the modules under other names, sorted by these, and imports that follow."""
    modules = {source.module for source in sources}
    above = sources[0].path.parents[sources[0].module.count(".") + (sources[0].path.stem == "__init__")]
    modules |= {f"{above.name}.{module}" for module in modules}  # as a folder of names alone may be imported
    changed = []
    for source in sources:
        module = ".".join(names.get(part, part) for part in source.module.split("."))
        path = above / (
            module.replace(".", "/") + ("/__init__.py" if source.path.stem == "__init__" else ".py")
        )
        text = in_imports(source, modules, names)
        changed.append(replace(source, path=path, shown=str(path), module=module, text=text))
    return sorted(changed, key=lambda source: source.shown)


def in_imports(source: Source, modules: set[str], names: Mapping[str, str]) -> str:
    """Return the text of a file whose ``from ... import`` name the project's modules anew, and bind what they bound."""
    lines = source.text.splitlines(keepends=True)
    package = source.module.split(".") if source.path.stem == "__init__" else source.module.split(".")[:-1]
    nodes = [node for node in ast.walk(ast.parse(source.text)) if isinstance(node, ast.ImportFrom)]
    for node in sorted(nodes, key=lambda node: node.lineno, reverse=True):
        above = package[: len(package) - node.level + 1] if node.level else []
        whole = ".".join([*above, *(node.module or "").split(".")]).rstrip(".")
        if not any(f"{module}.".startswith(f"{whole}.") for module in modules):
            continue
        path = ".".join(names.get(part, part) for part in (node.module or "").split("."))
        aliases = [
            ast.alias(names[alias.name], alias.asname or alias.name)
            if f"{whole}.{alias.name}" in modules and alias.name in names
            else alias
            for alias in node.names
        ]
        begin, end = node.lineno - 1, node.end_lineno or node.lineno
        if lines[begin][: node.col_offset].strip():
            continue  # behind another statement
        written = ast.unparse(ast.ImportFrom(path or None, aliases, node.level))
        lines[begin:end] = [" " * node.col_offset + written + "\n"]
    return "".join(lines)


def permuted(source: Source) -> Source:
    """Return a file whose functions and methods that stand next to one another are in the opposite order."""
    text = source.text
    if not text.endswith("\n"):
        text += "\n"
    lines = text.splitlines(keepends=True)
    bodies = [node.body for node in ast.walk(ast.parse(text)) if isinstance(node, (ast.Module, ast.ClassDef))]
    runs = [run for body in bodies for run in neighbours(body)]
    for run in sorted(runs, key=lambda run: run[0].lineno, reverse=True):
        parts = [lines[node.lineno - 1 : node.end_lineno] for node in run]
        gaps = [lines[one.end_lineno : two.lineno - 1] for one, two in pairwise(run)]  # type: ignore[misc]
        whole = [line for part, gap in zip(parts[::-1], [*gaps, []], strict=True) for line in (*part, *gap)]
        lines[run[0].lineno - 1 : run[-1].end_lineno] = whole
    return replace(source, text="".join(lines)) if runs else source


def neighbours(body: Sequence[ast.stmt]) -> list[list[ast.stmt]]:
    """Return the functions without decorators that stand next to one another, each of which is the only one of its name."""
    named = Counter(getattr(node, "name", "") for node in body)
    runs: list[list[ast.stmt]] = [[]]
    for node in body:
        is_function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        if (
            is_function
            and not node.decorator_list
            and named[node.name] == 1
            and node.end_lineno != node.lineno
        ):  # type: ignore[attr-defined]
            runs[-1].append(node)
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if len(run) > 1]


if __name__ == "__main__":
    main()

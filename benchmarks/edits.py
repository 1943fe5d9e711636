"""Whether an engine that stays in memory says after each edit what a new one says, and how long each takes.

    python -m benchmarks.edits vllm==0.19.0:vllm/v1/spec_decode --count 500
    python -m benchmarks.edits vllm==0.19.0:vllm/v1/spec_decode --count 500 --kept

needs `pip install -e ".[bench]"`. The project is a release, which pip downloads, or a folder, with a folder inside it after a
colon. Each edit is a random one: of the body of a function as a rule, else of a signature, a name, a class attribute or a file. After each,
findings, failures and all that is known of parameters, returns and attributes are compared with those of a new engine.
With ``--kept``, each edit is put to another engine, which knows what the last one knew that worked out everything, and
findings and failures are compared.
It is run in two processes of different hash seeds, and ends with status 1 where anything differs.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from benchmarks import releases
from syncscan.check.engine import Engine
from syncscan.check.files import Source, SourceError, read_source
from syncscan.check.matching import CheckResult
from syncscan.model import Conventions, Value

Sources = dict[str, Source]


def main() -> None:
    """Print what was compared, for each hash seed."""
    options = parse_options()
    if options.seed is not None:
        sys.exit(compared(options))
    runs = [
        subprocess.run(
            [sys.executable, "-m", "benchmarks.edits", *sys.argv[1:], "--seed", seed],
            check=False,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        for seed in ("1", "2")
    ]
    sys.exit(any(run.returncode for run in runs))


def parse_options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", help="a release or a folder")
    parser.add_argument("--sources", type=Path, default=releases.CACHE, help="where releases are kept")
    parser.add_argument("--count", type=int, default=500, help="how many edits")
    parser.add_argument(
        "--kept", action="store_true", help="take up what is kept, in place of an engine that stays"
    )
    parser.add_argument("--seed", type=int, help="run once, with edits of this seed")
    return parser.parse_args()


def compared(options: argparse.Namespace) -> bool:
    """Edit a project and compare; whether anything differed."""
    rng = random.Random(options.seed)  # noqa: S311 (edits, no secrets)
    with tempfile.TemporaryDirectory() as scratch:
        sources = {
            source.shown: source
            for source in read(releases.copied(options.name, options.sources, Path(scratch)))
        }
    engine = Engine(Conventions())
    asked(engine, sources)
    state = engine.state()
    again: list[float] = []
    anew: list[float] = []
    differed = 0
    for number in range(options.count):
        kind = edited(rng, sources)
        if options.kept:
            engine = Engine(Conventions(), state=state)
        result, took, is_new = asked(engine, sources)
        if options.kept and (is_new := engine.solver is not None):
            state = engine.state()
        cold = Engine(Conventions())
        expected, took_anew, _ = asked(cold, sources)
        anew.append(took_anew)
        if not is_new:
            again.append(took)
        if result != expected or (engine.solver is not None and known(engine) != known(cold)):
            differed += 1
            print(f"edit {number} ({kind}): differs", flush=True)
    print(
        f"hash seed {os.environ.get('PYTHONHASHSEED')}: {options.count} edits of {len(sources)} files, {differed} differ; "
        f"{len(again)} worked out in {statistics.median(again):.3f} s (median), {max(again):.3f} s (most); "
        f"anew {statistics.median(anew):.2f} s",
        flush=True,
    )
    return bool(differed)


def read(folder: Path) -> Iterator[Source]:
    """The files of a project."""
    for path in sorted(folder.rglob("*.py")):
        try:
            yield read_source(path, folder, {})
        except SourceError:
            continue


def asked(engine: Engine, sources: Sources) -> tuple[CheckResult, float, bool]:
    """What an engine says, the processor time that takes, and whether it read the project anew."""
    stages: set[str] = set()
    start = time.process_time()
    result = engine.check([*sources.values()], None, lambda stage, *_: stages.add(stage))
    return result, time.process_time() - start, "read" in stages


def known(engine: Engine) -> dict[str, object]:
    """All that is known, by the keys of what it is known of."""
    assert engine.solver is not None
    cells = engine.solver.known
    owners = {p: f"{f.key} {p.name}" for f in engine.solver.functions() for p in f.parameters}
    found = {owners[p]: cell for p, cell in cells.parameters.items() if p in owners}
    found |= {f"{f.key} returns": cell for f, cell in cells.returns.items()}
    found |= {f"{cls.key} .{name}": cell for (cls, name), cell in cells.attributes.items()}
    return {key: described(cell.value) for key, cell in found.items() if cell.contributions}


def described(value: Value) -> str:
    """A value as text, with its evidence, and without addresses."""
    parts = [getattr(value, name) for name in ("kind", "device", "confidence", "pinned", "dtype", "ndim")]
    payload = getattr(value, "payload", None)
    inside = [described(item) for item in (*(value.items or ()), *filter(None, [value.element]))]
    steps = value.evidence.chain() if value.evidence is not None else ()
    return f"{parts} {getattr(payload, 'key', payload)} {inside} {[(s.path, s.line, s.text) for s in steps]}"


def edited(rng: random.Random, sources: Sources) -> str:
    """Make a random edit that parses; its kind."""
    while True:
        kind = rng.choices(
            ("body", "signature", "name", "attribute", "new file", "deleted file"), (94, 2, 1, 1, 1, 1)
        )[0]
        shown = rng.choice([*sources])
        source = sources[shown]
        if kind == "deleted file":
            del sources[shown]
            return kind
        if kind == "new file":
            path = source.path.with_name(f"{source.path.stem}_{rng.randrange(1000)}.py")
            name = shown.replace(source.path.name, path.name)
            sources[name] = replace(source, path=path, shown=name, module=f"{source.module}_new")
            return kind
        text = TEXTS[kind](rng, source.text)
        if text != source.text and parses(text):
            sources[shown] = replace(source, text=text)
            return kind


def parses(text: str) -> bool:
    """Whether a text is Python."""
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True


def body(rng: random.Random, text: str) -> str:
    """Change a statement of a function."""
    tree, lines = ast.parse(text), text.split("\n")
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    if not functions:
        return text
    function = rng.choice(functions)
    statement = rng.choice([n for n in ast.walk(function) if isinstance(n, ast.stmt) and n is not function])
    names = sorted({node.id for node in ast.walk(function) if isinstance(node, ast.Name)}) or ["x"]
    fields = sorted({node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}) or ["x"]
    one, other, field = rng.choice(names), rng.choice(names), rng.choice(fields)
    first, last, indent = statement.lineno - 1, statement.end_lineno, " " * statement.col_offset
    added = [
        "# a comment",
        f"{one} = {other}.{field}",
        f'{one} = torch.zeros(3, device="cuda").item()',
        f"return {one}",
        f"{one} = lambda *a: {other}.cpu()",
    ]
    match rng.randrange(3):
        case 0:
            lines[first:last] = [f"{indent}pass"]
        case 1:
            lines[first:first] = lines[first:last]
        case _:
            lines.insert(first, indent + rng.choice(added))
    return "\n".join(lines)


def signature(rng: random.Random, text: str) -> str:
    """Give a method one more parameter."""
    return text.replace("(self", f"(self, more_{rng.randrange(9)}=None", 1)


def name(rng: random.Random, text: str) -> str:
    """Give a function another name where it is defined."""
    return text.replace("def ", f"def x{rng.randrange(9)}", 1)


def attribute(rng: random.Random, text: str) -> str:
    """Set one more attribute."""
    lines = text.split("\n")
    places = [n for n, line in enumerate(lines) if line.strip().startswith("self.") and " = " in line]
    if places:
        place = rng.choice(places)
        indent = lines[place][: len(lines[place]) - len(lines[place].lstrip())]
        lines.insert(place, f"{indent}self.added_{rng.randrange(99)} = self")
    return "\n".join(lines)


TEXTS = {"body": body, "signature": signature, "name": name, "attribute": attribute}


if __name__ == "__main__":
    main()

"""Whether an engine that stays in memory says after each edit what a new one says, and how long each takes.

    python -m benchmarks.edits vllm==0.19.0:vllm/v1/spec_decode --count 500
    python -m benchmarks.edits vllm==0.19.0:vllm/v1/spec_decode --count 500 --kept

needs `pip install -e ".[bench]"`. The project is a release, which pip downloads, or a folder, with a folder inside it after a
colon. Each edit is a random one, see `KINDS`. After each,
findings, failures and all that is known of parameters, returns and attributes are compared with those of a new engine.
With ``--kept``, each edit is put to another engine, which takes up the state of the last one, and findings and failures
are compared.
It is run in two processes of different hash seeds, and ends with status 1 where anything differs.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks import releases
from syncscan.check.engine import Engine
from syncscan.check.files import Source, SourceError, read_source
from syncscan.check.infer.domain.value import AbstractValue
from syncscan.check.result import CheckResult
from syncscan.model import Conventions

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
    made: Counter[str] = Counter()
    followed: Counter[str] = Counter()
    differed = 0
    for number in range(options.count):
        kind = edited(rng, sources)
        if options.kept:
            engine = Engine(Conventions(), state=state)
        result, took, is_new = asked(engine, sources)
        state = engine.state() if options.kept else None
        cold = Engine(Conventions())
        expected, took_anew, _ = asked(cold, sources)
        anew.append(took_anew)
        made[kind] += 1
        if not is_new:
            followed[kind] += 1
            again.append(took)
        if result != expected or (not options.kept and known(engine) != known(cold)):
            differed += 1
            print(f"edit {number} ({kind}): differs", flush=True)
    print(
        f"hash seed {os.environ.get('PYTHONHASHSEED')}: {options.count} edits of {len(sources)} files, {differed} differ; "
        f"{len(again)} followed in {statistics.median(again):.3f} s (median), {max(again):.3f} s (most); "
        f"anew {statistics.median(anew):.2f} s; "
        + ", ".join(f"{kind} {followed[kind]} of {count}" for kind, count in made.most_common()),
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


def described(fact: AbstractValue) -> str:
    """A value as text, without addresses."""
    parts = [
        getattr(fact, name) for name in ("kind", "device", "confidence", "pinned", "dtype", "ndim", "differs")
    ]
    inside = [described(item) for item in (*(fact.items or ()), *filter(None, [fact.element]))]
    return f"{parts} {getattr(fact.payload, 'key', fact.payload)} {inside} {sorted(fact.via or ())}"


def edited(rng: random.Random, sources: Sources) -> str:
    """Make a random edit that parses; its kind."""
    while True:
        kind = rng.choices([*KINDS], [weight for weight, _ in KINDS.values()])[0]
        before = dict(sources)
        KINDS[kind][1](rng, sources)
        changed = {shown for shown in {**before, **sources} if before.get(shown) != sources.get(shown)}
        if changed and all(parses(sources[shown].text) for shown in changed if shown in sources):
            return kind
        sources.clear()
        sources.update(before)


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
    """Give a function one more parameter, a default, or an annotation."""
    functions = [n for n in definitions(text) if isinstance(n, ast.FunctionDef) and n.args.args]
    if not functions:
        return text
    node = rng.choice(functions)
    args = node.args
    match rng.randrange(4):
        case 0 if not args.kwarg:
            args.kwonlyargs.append(ast.arg(f"more_{rng.randrange(9)}"))
            args.kw_defaults.append(ast.Constant(None))
        case 1:
            rng.choice(args.args).annotation = ast.parse("torch.Tensor", mode="eval").body
        case 2:
            args.defaults = [ast.Constant(0)] * len(args.args)
        case _:
            args.args.append(ast.arg(f"other_{rng.randrange(9)}"))
            args.defaults.append(ast.Constant(None))
    head = ast.unparse(ast.FunctionDef(**{**vars(node), "body": [ast.Pass()]})).rpartition("\n")[0]
    statement, last = first_line(node.body[0]), node.end_lineno or 0
    if statement == node.lineno:  # all of it is one line
        return text
    lines = text.split("\n")
    return replaced(
        text, node, [node], "\n".join([indented(head, node.col_offset), *lines[statement - 1 : last]])
    )


def renamed(rng: random.Random, text: str) -> str:
    """Give a function, a method or a class another name where it is defined, or wherever the file has it."""
    node = rng.choice(definitions(text) or [None])
    if node is None:
        return text
    new = f"{node.name}_{rng.randrange(9)}"
    if rng.random() < 0.5:
        return re.sub(rf"\b{node.name}\b", new, text)
    line = text.split("\n")[node.lineno - 1]
    return replaced(text, node, [], line.replace(node.name, new, 1), of=1)


def helper(rng: random.Random, text: str) -> str:
    """Define a function, and call it somewhere."""
    name = rng.choice(["helper", "copied", *(node.name for node in definitions(text))])
    added = f"def {name}(x, *rest):\n    return x.{rng.choice(['cpu()', 'item()', 'data'])}\n"
    tree = ast.parse(text)
    if not tree.body:
        return added
    node = rng.choice(tree.body)
    text = inserted(text, first_line(node), added)
    return re.sub(r"return (\w+)$", rf"return {name}(\1)", text, count=1, flags=re.MULTILINE)


def method(rng: random.Random, text: str) -> str:
    """Define a method, one of another class perhaps, in a class."""
    classes = [node for node in definitions(text) if isinstance(node, ast.ClassDef)]
    methods = [node for each in classes for node in each.body if isinstance(node, ast.FunctionDef)]
    if not methods:
        return text
    node, place = rng.choice(methods), rng.choice(rng.choice(classes).body)
    added = ast.unparse(node)
    if rng.random() < 0.3:
        added = added.replace(f"def {node.name}", f"def {node.name}_{rng.randrange(5)}", 1)
    return inserted(text, first_line(place), indented(added, place.col_offset))


def subclass(rng: random.Random, text: str) -> str:
    """Define a class below another one, with some of its methods, or none."""
    tree = ast.parse(text)
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    if not classes:
        return text
    base = rng.choice(classes)
    methods = [node for node in base.body if isinstance(node, ast.FunctionDef) and rng.random() < 0.3]
    body = "\n".join(ast.unparse(node) for node in methods) or "pass"
    name = rng.choice(["Added", f"{base.name}Fast", base.name])
    added = f"class {name}({base.name}):\n{indented(body, 4)}\n"
    return inserted(text, (base.end_lineno or 0) + 1, added)


def imported(rng: random.Random, text: str) -> str:
    """Import something, under a name that may be in use, or import something no more."""
    tree = ast.parse(text)
    imports = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    if not imports:
        return text
    node = rng.choice(imports)
    if rng.random() < 0.4:
        return replaced(text, node, [], "pass")
    names = sorted({each.id for each in ast.walk(tree) if isinstance(each, ast.Name)}) or ["x"]
    alias = ast.unparse(node).partition(",")[0].partition(" as ")[0]
    return inserted(text, first_line(node), f"{alias} as {rng.choice(names)}")


def deleted(rng: random.Random, text: str) -> str:
    """Delete a definition."""
    node = rng.choice(definitions(text) or [None])
    return (
        text if node is None else replaced(text, node, node.decorator_list, indented("pass", node.col_offset))
    )


def based(rng: random.Random, text: str) -> str:
    """Give a class one more base, or none."""
    classes = [node for node in definitions(text) if isinstance(node, ast.ClassDef)]
    if not classes:
        return text
    node, other = rng.choice(classes), rng.choice(classes).name
    lines = text.split("\n")
    head = f"{' ' * node.col_offset}class {node.name}" + rng.choice(["", f"({other})", "(torch.nn.Module)"])
    if not lines[node.lineno - 1].endswith(":"):
        return text
    return replaced(text, node, [], f"{head}:", of=1)


def declared(rng: random.Random, text: str) -> str:
    """Declare or set something in the body of a class."""
    classes = [node for node in definitions(text) if isinstance(node, ast.ClassDef)]
    if not classes:
        return text
    place = rng.choice(rng.choice(classes).body)
    fields = sorted({n.attr for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Attribute)}) or ["x"]
    added = rng.choice([": torch.Tensor", " = None", ": int = 3", ' = torch.ones(2, device="cuda")'])
    return inserted(text, first_line(place), indented(rng.choice(fields) + added, place.col_offset))


def attribute(rng: random.Random, text: str) -> str:
    """Set one more attribute."""
    lines = text.split("\n")
    places = [n for n, line in enumerate(lines) if line.strip().startswith("self.") and " = " in line]
    if places:
        place = rng.choice(places)
        indent = lines[place][: len(lines[place]) - len(lines[place].lstrip())]
        lines.insert(place, f"{indent}self.added_{rng.randrange(99)} = self")
    return "\n".join(lines)


def moved(rng: random.Random, sources: Sources) -> None:
    """Move a class or a function to another file, which the first one imports then, or does not."""
    shown, other = rng.choice([*sources]), rng.choice([*sources])
    nodes = [node for node in ast.parse(sources[shown].text).body if isinstance(node, DEFINITIONS)]
    if not nodes or shown == other:
        return
    node, text = rng.choice(nodes), sources[shown].text
    rest = f"from {sources[other].module} import {node.name}" if rng.random() < 0.7 else ""
    sources[other] = replace(sources[other], text=f"{sources[other].text}\n\n{ast.unparse(node)}\n")
    sources[shown] = replace(sources[shown], text=replaced(text, node, node.decorator_list, rest))


def new_file(rng: random.Random, sources: Sources) -> None:
    """Make a file like another one, or one that was deleted."""
    source = sources[rng.choice([*sources])]
    path = source.path.with_name(f"{source.path.stem}_{rng.randrange(1000)}.py")
    name = source.shown.replace(source.path.name, path.name)
    sources[name] = replace(
        source, path=path, shown=name, module=f"{source.module.rpartition('.')[0]}.{path.stem}"
    )


def deleted_file(rng: random.Random, sources: Sources) -> None:
    """Delete a file."""
    if len(sources) > 4:
        del sources[rng.choice([*sources])]


DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def definitions(text: str) -> list[Any]:
    """The functions and classes of a file."""
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, DEFINITIONS)]


def first_line(node: Any) -> int:
    """The line on which a statement begins, decorators included."""
    return int(min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))]))


def indented(text: str, columns: int) -> str:
    """A text, further to the right."""
    return "\n".join(" " * columns + line for line in text.split("\n"))


def inserted(text: str, line: int, added: str) -> str:
    """A text with another one before a line."""
    lines = text.split("\n")
    return "\n".join([*lines[: line - 1], added, *lines[line - 1 :]])


def replaced(text: str, node: Any, above: Sequence[ast.AST], added: str, of: int = 0) -> str:
    """A text with another one in the place of a statement and what stands above it, or of its first lines."""
    lines = text.split("\n")
    first = first_line(node) if above else node.lineno
    last = first + of - 1 if of else node.end_lineno
    return "\n".join([*lines[: first - 1], *([added] if added else []), *lines[last:]])


def in_a_file(change: Callable[[random.Random, str], str]) -> Callable[[random.Random, Sources], None]:
    """A change of a text, made in a random file."""

    def make(rng: random.Random, sources: Sources) -> None:
        shown = rng.choice([*sources])
        sources[shown] = replace(sources[shown], text=change(rng, sources[shown].text))

    return make


# The edits that are made in one file, and how often each sort is made.
TEXTS = {
    "body": body,
    "signature": signature,
    "import": imported,
    "helper": helper,
    "attribute": attribute,
    "name": renamed,
    "method": method,
    "class": subclass,
    "deleted definition": deleted,
    "class attribute": declared,
    "base": based,
}
_OFTEN = (40, 10, 8, 8, 4, 6, 6, 5, 5, 4, 4)
KINDS: dict[str, tuple[int, Callable[[random.Random, Sources], None]]] = {
    **{kind: (often, in_a_file(change)) for often, (kind, change) in zip(_OFTEN, TEXTS.items(), strict=True)},
    "moved": (2, moved),
    "new file": (2, new_file),
    "deleted file": (1, deleted_file),
}


if __name__ == "__main__":
    main()

"""From what the processes of a program saw to facts: names the functions as the check names them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from syncscan.check.files import SourceError, decode, module_name, normalise, read_bytes
from syncscan.check.nesting import deep_recursion, parse
from syncscan.facts import FactSet, functions_in, syntax_of
from syncscan.syntax.source_text import first_line
from syncscan.trace.store import Process

_Functions = dict[
    tuple[str, int], tuple[str, str]
]  # by name and first line: the key of the facts, and the hash


def facts_of(processes: Iterable[Process], root: Path) -> FactSet:
    """Return the observations of functions whose source can be read and is the same as in the run."""
    facts = FactSet()
    known: dict[str, _Functions] = {}
    with deep_recursion():
        for process in processes:
            for seen in process.seen:
                if seen.path not in known:
                    known[seen.path] = _functions(Path(seen.path), root)
                if found := known[seen.path].get((seen.name, seen.line)):
                    facts.of(*found).add(seen.calls, seen.words)
    return facts


def without_changed(earlier: FactSet, now: FactSet) -> FactSet:
    """Return the earlier facts without facts of changed functions."""
    kept = FactSet()
    for key, versions in earlier.functions.items():
        current = now.functions.get(key)
        left = versions if current is None else {s: v for s, v in versions.items() if s in current}
        if left:
            kept.functions[key] = left
    return kept


def _functions(path: Path, root: Path) -> _Functions:
    try:
        tree = parse(normalise(decode(read_bytes(path))[0]))
    except (SourceError, SyntaxError, ValueError, RecursionError):
        return {}
    module = module_name(path, root)
    return {
        (node.name, first_line(node)): (f"{module}:{name}", syntax_of(node))
        for name, node in functions_in(tree)
    }

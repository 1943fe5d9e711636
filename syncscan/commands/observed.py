"""From what the processes of a program saw to a file of facts: names the functions as the check names them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from syncscan.check.files import SourceError, decode, module_name, normalise, read_bytes
from syncscan.check.nesting import deep_recursion, parse
from syncscan.errors import ConfigError
from syncscan.facts import FactSet, functions_in, read_facts, syntax_of
from syncscan.syntax.source_text import first_line
from syncscan.system.files import replace_file
from syncscan.trace.store import Process
from syncscan.words import plural

_Functions = dict[
    tuple[str, int], tuple[str, str]
]  # by name and first line: the key of the facts, and the hash


class FactRecording:
    """The facts that one run gives, and the file that they go to."""

    def __init__(self, root: Path, output: Path, packages: tuple[str, ...], *, append: bool = False) -> None:
        """Take the root of the project. ConfigError for a file that cannot be, and for what is no name of a package."""
        for package in packages:
            if not package.isidentifier():
                raise ConfigError(f"--package {package}: write the name of a package, such as torchvision")
        if not output.absolute().parent.is_dir():
            raise ConfigError(f"{output}: there is no such folder to write the facts to")
        if output.is_dir():
            raise ConfigError(f"{output}: is a folder; name a file to write the facts to")
        self._output = output
        self._packages = packages
        self._append = append
        self._earlier = read_facts(output) if append and output.exists() else FactSet()
        self._root = root.resolve()

    def for_hook(self) -> dict[str, str]:
        """Return the options of the hook."""
        return {"observe": str(self._root), "packages": ",".join(self._packages)}

    def write(self, processes: list[Process], status: int) -> None:
        """Write the facts of the processes, and say how many; ``status`` is that of the command.

        A command that failed has shown less, so its facts replace no file and go beside it.
        """
        now = facts_of(processes, self._root)
        facts = without_changed(self._earlier, now)
        facts.merge(now)
        output, kept = self._output, ""
        if status and not self._append and output.exists():
            output = output.with_name(f"{output.stem}.failed{output.suffix}")
            kept = f"; the command ended with exit status {status}, so {self._output} is left as it was"
        replace_file(output, facts.text())
        _say(output, now, facts, processes, kept)


def _say(output: Path, now: FactSet, facts: FactSet, processes: list[Process], kept: str) -> None:
    more = f", {len(facts)} with those of before" if len(facts) != len(now) else ""
    click.echo(
        f"syncscan: {output} has facts of {plural(len(now), 'function')}{more}{_why_none(now, processes)}{kept}",
        err=True,
    )


def _why_none(now: FactSet, processes: list[Process]) -> str:
    if len(now):
        return ""
    if not any(process.torch for process in processes):
        return ": no process imported torch"
    return (
        ": none of the project's was called after torch was imported; --package NAME adds those of a package"
    )


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

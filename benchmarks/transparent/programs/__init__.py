"""Small programs that look at themselves: each says what it is in its name, and ends in its own way.

``USE`` stands for the import of torch and a wait on the GPU. A program is told by its source, by how it is started,
and by what it finds: files, variables of the environment, standard input.
"""

from __future__ import annotations

from collections.abc import Iterator

from . import endings, errors, files, limits, looks, processes, signals, starts, tools
from .program import STATE, Program

__all__ = ["STATE", "Program", "programs"]

_ON_OTHERS = ("exit 3", "end by an exception", "end by exit handlers", "end by a daemon thread", "start -Werror with torch", "end by a recursion", "signals: a timer that raises to the end", "SIGTERM, default", "processes: fork", "processes: a pool by spawn", "processes: execv", "files: all closed", "tool settrace", "look at threads", "look at modules before torch")  # fmt: skip


def programs() -> dict[str, Program]:
    """Return every program by its name."""
    found: dict[str, Program] = {}
    for group in (starts, endings, errors, signals, processes, limits, files, tools, looks):
        for name, program in group.programs():
            assert name not in found, name
            found[name] = program
    found.update(_on_other_pythons(found))
    return found


def _on_other_pythons(found: dict[str, Program]) -> Iterator[tuple[str, Program]]:
    for version in ("3.9", "3.10", "3.12", "3.13"):
        for name in _ON_OTHERS:
            if (version, name) == ("3.9", "signals: a timer that raises to the end"):
                continue  # lost there, see docs/reliability.md: it would never end
            program = found[name]
            yield f"{name} on {version}", Program(**(vars(program) | {"version": version}))

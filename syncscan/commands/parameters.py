"""Types of parameters that refuse what would silently mean nothing, and refusals of options that contradict each other."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from math import inf, nan
from pathlib import Path
from typing import TypeVar

import click

from syncscan.errors import ConfigError
from syncscan.model import When, parse_when
from syncscan.report.formats import FORMATS

_Options = TypeVar("_Options")
# Conditions that no run can meet, each with its message, in which {0} stands for the options.
Contradictions = tuple[tuple[Callable[[_Options], object], str], ...]


def refuse_contradictions(options: _Options, contradictions: Contradictions[_Options]) -> None:
    """Raise ConfigError with the message of the first condition that holds."""
    for holds, message in contradictions:
        if holds(options):
            raise ConfigError(message.format(options))


def complete(
    words: Callable[[], Iterable[str]],
) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """Return the shell completion of the last of several words with commas between."""

    def completions(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
        done, comma, begun = incomplete.rpartition(",")
        return [f"{done}{comma}{word}" for word in words() if word.casefold().startswith(begun.casefold())]

    return completions


def text(value: str) -> str:
    """Return a text that is not empty: an unset variable of a script is a mistake."""
    if not value:
        raise click.BadParameter("it is empty")
    return value


def source(value: str) -> str:
    """Return the name of a file or folder to read; refuse a folder in which not even the settings can be looked for."""
    if Path(text(value)).is_dir() and not os.access(value, os.X_OK):
        raise click.BadParameter(
            f"the folder {value!r} may not be read; change its permissions, or leave it out"
        )
    return value


def path(value: str) -> Path:
    """Return a path; an empty one would be the current folder."""
    return Path(text(value))


def output(value: str) -> tuple[str | None, Path]:
    """Return the format, or None where the value names none, and the file."""
    name, equals, file = value.partition("=")
    if not equals:
        return None, path(value)
    if name not in FORMATS or not file:
        raise click.BadParameter(
            f"{value!r} is not FILE or FORMAT=FILE; a format is one of {', '.join(FORMATS)}"
        )
    return name, Path(file)


def when(value: str) -> tuple[When, ...]:
    """Return the times that a list with commas names."""
    try:
        return parse_when(value.split(","))
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def shard(value: str) -> tuple[int, int]:
    """Return the number of a share, from 1 on, and the count of shares."""
    first, _, last = value.partition("/")
    if not (first.isdecimal() and last.isdecimal() and 1 <= int(first) <= int(last)):
        raise click.BadParameter(f"{value!r} is not I/N, such as 1/4")
    return int(first), int(last)


def limit(value: str) -> float:
    """Return a number from 0 on; NaN is above no limit, and infinity is none."""
    try:
        number = float(value)
    except ValueError:
        number = nan
    if not 0 <= number < inf:
        raise click.BadParameter(f"{value} is not a number from 0 on")
    return number

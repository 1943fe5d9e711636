"""Settings: ``[tool.syncscan]`` of the nearest ``pyproject.toml``, checked to the last key and code."""

from __future__ import annotations

import functools
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import pathspec

from syncscan.errors import ConfigError, suggestion
from syncscan.model import (
    DEFAULT_WHEN,
    REPORTED_CONFIDENCE,
    SYNC_FREE,
    UNUSED_SUPPRESSION,
    Confidence,
    Conventions,
    Finding,
    When,
    parse_when,
)
from syncscan.ops import OperationTable, load_table
from syncscan.rule import rule_book

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DEFAULT_CONFIDENCE = Confidence.INFERRED
AUTOMATIC, NO_PACKAGES = "auto", "none"  # values of `environment` that are no paths


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of a project: findings to report, and files to read. Patterns of paths are relative to ``root``, as in a .gitignore."""

    root: Path
    source: Path | None = None
    extended: tuple[Path, ...] = ()  # the files that ``source`` extends, the nearest first
    select: tuple[str, ...] = ("SYN",)
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    min_confidence: Confidence = DEFAULT_CONFIDENCE
    exclude: tuple[str, ...] = ()
    require_reason: bool = False
    hot: tuple[str, ...] = ()
    sync_free: tuple[str, ...] = ()  # functions that must not reach a call that may synchronize
    configurations: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # assumptions by name
    when: tuple[When, ...] = DEFAULT_WHEN
    baseline: Path | None = None
    facts: tuple[Path, ...] = ()
    environment: str = AUTOMATIC  # whose packages are read, see `syncscan.check.libraries.environment`
    conventions: Conventions = field(default_factory=Conventions)
    operations: Mapping[str, Any] = field(
        default_factory=dict
    )  # of the project, as `OperationTable.with_own` takes them

    def table(self) -> OperationTable:
        """Return the operation table, with the operations of the project."""
        return load_table().with_own(self.operations)

    def reports(self, finding: Finding, path: Path) -> bool:
        """Return whether a finding in the file at ``path`` is one that the user asked for."""
        return (
            (finding.confidence >= self.min_confidence or finding.code == SYNC_FREE)
            and self.selects(finding.code)
            and not self._ignored_in(path, finding.code)
        )

    @property
    def shows_all(self) -> bool:
        """Return whether findings are shown whenever their lines run."""
        return set(self.when) == set(When)

    def shows(self, finding: Finding) -> bool:
        """Return whether a finding is shown by when its line runs; the others are counted."""
        return finding.when in self.when or finding.code == UNUSED_SUPPRESSION

    def selects(self, code: str) -> bool:
        """Return whether a rule is on: the longest prefix of its code decides, and at a tie, ``ignore``."""
        chosen = longest_prefix(code, (*self.select, *self.extend_select))
        return chosen > longest_prefix(code, self.ignore)

    def excludes(self, path: Path, *, folder: bool = False) -> bool:
        """Return whether ``exclude`` leaves out a file or a folder."""
        return bool(self.exclude) and matches(self.exclude, self.root, path, folder=folder)

    def _ignored_in(self, path: Path, code: str) -> bool:
        return any(
            longest_prefix(code, codes) and matches((pattern,), self.root, path)
            for pattern, codes in self.per_file_ignores
        )


def longest_prefix(code: str, prefixes: Iterable[str]) -> int:
    """Return the length of the longest of ``prefixes`` that ``code`` starts with; 0 where none does."""
    return max((len(prefix) for prefix in prefixes if code.startswith(prefix)), default=0)


def matches(patterns: tuple[str, ...], root: Path, path: Path, *, folder: bool = False) -> bool:
    """Return whether a path below ``root`` matches patterns in the language of .gitignore."""
    if not path.is_relative_to(root):
        return False
    relative = path.relative_to(root).as_posix() + ("/" if folder else "")
    return read_patterns(patterns)[0].match_file(relative)


@functools.cache
def read_patterns(lines: tuple[str, ...]) -> tuple[pathspec.GitIgnoreSpec, tuple[str, ...]]:
    """Return the patterns that the lines of a .gitignore give, and the lines that are none, such as "!"."""
    bad = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `re` has doubts about sets such as "[[:alpha:]]"
        for line in lines:
            try:
                pathspec.GitIgnoreSpec.from_lines([line])
            except (ValueError, re.error):
                bad.append(line)
        good = [line for line in lines if line not in bad]
        return (pathspec.GitIgnoreSpec.from_lines(good), tuple(bad))


def find_config(start: Path) -> Config:
    """Return the settings of the nearest ``pyproject.toml`` at or above a folder that has a [tool.syncscan]."""
    for folder in (start, *start.parents):
        file = folder / "pyproject.toml"
        if file.is_file() and (table := _read_table(file)) is not None:
            return parse_config(table, file)
    return Config(root=start)


def load_config(file: Path) -> Config:
    """Return the settings of a file that the user named; raise ConfigError if the file has none."""
    if not file.is_file():
        raise ConfigError(f"{file}: no such file; --config takes a TOML file with a [tool.syncscan] table")
    table = _read_table(file)
    if table is None:
        raise ConfigError(f"{file}: has no [tool.syncscan] table; add one, or leave --config out")
    return parse_config(table, file)


def _read_table(file: Path) -> dict[str, Any] | None:
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{file}: cannot be read: {error}") from error
    tool = data.get("tool", {})
    table = tool.get("syncscan") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise ConfigError(f"{file}: tool.syncscan must be a table; write [tool.syncscan]")
    return table


def parse_config(table: dict[str, Any], file: Path) -> Config:
    """Check every key and value of a [tool.syncscan] table; ConfigError names the first bad one."""
    settings = _settings(table, file, (file.resolve(),))
    return Config(root=file.resolve().parent, source=file, **settings)


def adjusted(config: Config, table: Mapping[str, Any], where: str) -> Config:
    """Return the settings after the settings of a table; a ConfigError names ``where`` and the first bad setting."""
    settings = _parsed(table, config.root, where)
    if "extend" in settings:
        raise ConfigError(f"{where}: extend: is for files; name one as `config`")
    return replace(config, **settings)


def _settings(table: dict[str, Any], file: Path, seen: tuple[Path, ...]) -> dict[str, Any]:
    """Return the settings of a table over those of the file that it extends; ``seen`` extend each other."""
    settings = _parsed(table, file.resolve().parent, f"{file}: [tool.syncscan]")
    extended = settings.pop("extend", None)
    if extended is None:
        return settings
    base = (file.resolve().parent / extended).resolve()
    where = f"{file}: [tool.syncscan]: extend"
    if base in seen:
        raise ConfigError(f"{where}: {extended} extends this file in turn; take one of the two out")
    if not base.is_file():
        raise ConfigError(f"{where}: {extended}: no such file; write its path relative to this one")
    inherited = _read_table(base)
    if inherited is None:
        raise ConfigError(f"{where}: {extended} has no [tool.syncscan] table; add one, or leave it out")
    below = _settings(inherited, base, (*seen, base))
    return below | settings | {"extended": (base, *below.get("extended", ()))}


def _parsed(table: Mapping[str, Any], folder: Path, where: str) -> dict[str, Any]:
    """Return the settings of a table with paths relative to a folder; an error names ``where`` the table stands."""
    settings: dict[str, Any] = {}
    for key, value in table.items():
        parse = _PARSERS.get(key)
        try:
            if parse is None:
                raise ValueError(f"unknown key {key!r}; {suggestion(key, _PARSERS)}")
            if (parsed := parse(value)) is not None:
                settings[_OLD_KEYS.get(key, key).replace("-", "_")] = parsed
        except ValueError as error:
            of = f"{key}: " if parse else ""
            raise ConfigError(f"{where}: {of}{error}") from error
    if "baseline" in settings:
        settings["baseline"] = _as_printed(folder / settings["baseline"])
    if settings.get("environment", AUTOMATIC) not in {AUTOMATIC, NO_PACKAGES}:
        settings["environment"] = str(folder / settings["environment"])
    if "facts" in settings:
        settings["facts"] = tuple(_as_printed(folder / path) for path in settings["facts"])
    return settings


def _as_printed(path: Path) -> Path:
    """Return a path relative to the current folder if the path lies below."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def parse_codes(values: Sequence[str]) -> tuple[str, ...]:
    """Return codes and prefixes of codes; ValueError where one names no rule."""
    return tuple(_parse_code(value) for value in values)


def _parse_code(value: str) -> str:
    code = value.strip().upper()
    if not code:
        raise ValueError("a code is empty; write codes such as SYN101 or prefixes such as SYN1")
    valid = rule_book()
    if not any(known.startswith(code) for known in valid):
        raise ValueError(f"unknown code {value!r}; {suggestion(code, valid, '`syncscan rule` lists them')}")
    return code


def parse_confidence(value: object) -> Confidence:
    """Return the confidence that a word names; raise ValueError for another word."""
    labels = {level.label: level for level in REPORTED_CONFIDENCE}
    if not isinstance(value, str) or value not in labels:
        raise ValueError(f"{value!r} is not a confidence; {suggestion(str(value), labels)}")
    return labels[value]


def _strings(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"must be a list of strings, not {value!r}")
    return tuple(value)


def _patterns(value: object) -> tuple[str, ...]:
    patterns = _strings(value)
    if bad := read_patterns(patterns)[1]:
        raise ValueError(
            f"{bad[0]!r} is no pattern of paths; write it as in a .gitignore, such as 'gen/*.py'"
        )
    return patterns


def _entry_points(value: object) -> tuple[str, ...]:
    names = _strings(value)
    for name in names:
        if not all(name.partition(":")):
            raise ValueError(f"{name!r} names no function; write it as 'package.module:Class.method'")
    return names


def _codes(value: object) -> tuple[str, ...]:
    return parse_codes(_strings(value))


def _per_file_ignores(value: object) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise ValueError(f'must be a table such as {{ "tests/**" = ["SYN1"] }}, not {value!r}')
    return tuple(zip(_patterns(list(value)), map(_codes, value.values()), strict=True))


def _paths(value: object) -> tuple[str, ...]:
    return tuple(map(_text, _strings(value)))


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"must be a path, not {value!r}")
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"must be true or false, not {value!r}")
    return value


def _when(value: object) -> tuple[When, ...]:
    return parse_when(_strings(value))


def _hot_only(value: object) -> tuple[When, ...] | None:
    return (When.STEP,) if _flag(value) else None


def _all(value: object) -> tuple[When, ...] | None:
    return tuple(When) if _flag(value) else None


def _conventions(value: object) -> Conventions:
    known = {field.name.replace("_", "-"): field.name for field in fields(Conventions)}
    if not isinstance(value, dict):
        raise ValueError(f'must be a table such as {{ host-names = ["*_cpu"] }}, not {value!r}')
    for key in value:
        if key not in known:
            raise ValueError(f"unknown key {key!r}; {suggestion(key, known)}")
    return Conventions(**{known[key]: _strings(names) for key, names in value.items()})


def _configurations(value: object) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict):
        raise ValueError(
            f'must be a table such as {{ graphs = ["engine:Runner.graphs = True"] }}, not {value!r}'
        )
    return {name: _strings(texts) for name, texts in value.items()}


def _operations(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(
            f'must be a table such as {{ "torch.ops._C.scale" = {{ result = "none" }} }}, not {value!r}'
        )
    load_table().with_own(value)
    return value


_PARSERS: dict[str, Callable[[object], object]] = {
    "extend": _text,
    "select": _codes,
    "ignore": _codes,
    "extend-select": _codes,
    "per-file-ignores": _per_file_ignores,
    "min-confidence": parse_confidence,
    "exclude": _patterns,
    "require-reason": _flag,
    "hot": _entry_points,
    "sync-free": _entry_points,
    "configurations": _configurations,
    "when": _when,
    "hot-only": _hot_only,
    "all": _all,
    "baseline": _text,
    "facts": _paths,
    "environment": _text,
    "conventions": _conventions,
    "operations": _operations,
}


_OLD_KEYS = {"hot-only": "when", "all": "when"}  # which work until version 1.1


def show(config: Config) -> str:
    """Return the settings as a TOML table that could be pasted into a ``pyproject.toml``."""
    source = (
        f"from {_escaped(str(config.source))}"
        if config.source
        else "defaults: no [tool.syncscan] table applies"
    )
    lines = [f"# {source}", f"# paths are relative to {_escaped(str(config.root))}", "[tool.syncscan]"]
    for key in (key for key in _PARSERS if key not in _OLD_KEYS):
        value: Any = getattr(config, key.replace("-", "_"), None)  # `extend` has already been applied
        if value is None:
            continue
        if isinstance(value, Path):
            value = _below(value, config.root)
        if key == "environment" and value not in {AUTOMATIC, NO_PACKAGES}:
            value = _below(Path(value), config.root)
        if key == "facts":
            value = tuple(_below(path, config.root) for path in value)
        lines.append(f"{key} = {_toml(dict(value) if key == 'per-file-ignores' else value)}")
    return "\n".join(lines)


def _below(path: Path, root: Path) -> str:
    return Path(os.path.relpath(path, root)).as_posix()


def _toml(value: object) -> str:
    if isinstance(value, Confidence):
        return _toml(value.label)
    if isinstance(value, When):
        return _toml(value.value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Conventions):
        return _toml({f.name.replace("_", "-"): getattr(value, f.name) for f in fields(Conventions)})
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_toml(key)} = {_toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return '"' + _escaped(value.replace("\\", "\\\\").replace('"', '\\"')) + '"'
    assert isinstance(value, (tuple, list))
    return "[" + ", ".join(_toml(item) for item in value) + "]"


def _escaped(text: str) -> str:
    """Return the text with TOML's escapes for characters that a terminal would obey or hide."""
    return "".join(char if char.isprintable() else f"\\U{ord(char):08x}" for char in text)

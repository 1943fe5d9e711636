"""The options of ``syncscan check``: what they are, which of them contradict each other, and the settings that they give."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from syncscan.check.cache import Store, default_folder
from syncscan.check.discover import Project
from syncscan.check.files import is_outside
from syncscan.commands.parameters import Contradictions
from syncscan.config import Config, find_config, load_config, parse_codes, parse_confidence, read_patterns
from syncscan.errors import ConfigError, suggestion
from syncscan.model import When

STDIN = "-"


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """The command line as given."""

    paths: tuple[str, ...]
    stdin_filename: str | None
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    extend_select: tuple[str, ...]
    min_confidence: str | None
    environment: str | None
    when: tuple[When, ...] | None
    exclude: tuple[str, ...]
    output_format: str
    outputs: tuple[tuple[str | None, Path], ...]
    quiet: bool
    color: str
    fail_on: str
    fix: bool
    unsafe_fixes: bool
    add_ignores: bool
    reason: str | None
    diff: bool
    since: str | None
    shard: tuple[int, int] | None
    baseline: Path | None
    write_baseline: Path | None
    facts: tuple[Path, ...]
    traces: tuple[Path, ...]
    statistics: bool
    watch: bool
    exit_zero: bool
    config: str | None
    isolated: bool
    show_settings: bool
    cache_dir: Path | None
    no_cache: bool
    jobs: int

    @property
    def writes(self) -> bool:
        """Return whether sources are written."""
        return (self.fix or self.unsafe_fixes or self.add_ignores) and not self.diff

    @property
    def reads_stdin(self) -> bool:
        """Return whether the command checks standard input."""
        return STDIN in self.paths


# Conditions that no run can meet, each with its message; the first that holds is reported.
CONTRADICTIONS: Contradictions[CheckOptions] = (
    (lambda o: o.reads_stdin and len(o.paths) > 1, "- reads standard input, so it is the only path"),
    (lambda o: o.stdin_filename and o.paths != (STDIN,), "--stdin-filename needs - as the path"),
    (
        lambda o: o.config and o.isolated,
        "--config names a file and --isolated ignores it; give one of them",
    ),
    (
        lambda o: o.output_format != "text" and o.statistics,
        "--statistics is text; leave --output-format {0.output_format} out",
    ),
    (
        lambda o: o.output_format != "text" and o.diff,
        "--diff is text; leave --output-format {0.output_format} out",
    ),
    (
        lambda o: o.diff and o.statistics,
        "--diff shows the fixes and --statistics counts the findings; give one of them",
    ),
    (
        lambda o: o.add_ignores and (o.fix or o.unsafe_fixes),
        "--add-ignores keeps what fixes change; give one of them at a time",
    ),
    (
        lambda o: o.add_ignores and o.reason is None,
        "--add-ignores needs --reason TEXT, which each comment gives",
    ),
    (
        lambda o: o.reason is not None and not o.add_ignores,
        "--reason is for the comments that --add-ignores writes",
    ),
    (
        lambda o: o.baseline and o.write_baseline,
        "--baseline reads a file and --write-baseline writes one; give one of them",
    ),
    (
        lambda o: o.write_baseline and (o.writes or o.diff or o.reads_stdin),
        "--write-baseline takes the files as they are; leave fixes and - out",
    ),
    (
        lambda o: o.since and (o.writes or o.diff or o.write_baseline or o.reads_stdin),
        "--since only reports what a change brings; leave fixes, --write-baseline and - out",
    ),
    (
        lambda o: (
            o.traces and (o.writes or o.diff or o.statistics or o.output_format not in {"text", "json"})
        ),
        "--trace compares what is found; leave fixes, --statistics and formats other than text and json out",
    ),
    (
        lambda o: (
            o.watch and (o.writes or o.diff or o.write_baseline or o.since or o.traces or o.reads_stdin)
        ),
        "--watch shows what is found as files change; leave fixes, --write-baseline, --since, --trace and - out",
    ),
    (
        lambda o: o.watch and o.output_format not in {"text", "concise"},
        "--watch is text or concise; leave --output-format {0.output_format} out, or write it with --output-file",
    ),
    (
        lambda o: o.cache_dir and o.no_cache,
        "--cache-dir names a folder for results and --no-cache keeps none; give one of them",
    ),
)


def settings(options: CheckOptions) -> Config:
    """Return the settings of the file that the options choose, changed by the options."""
    if options.isolated:
        config = Config(root=Path.cwd())
    elif options.config:
        config = load_config(Path(options.config))
    else:
        config = find_config(_common_folder(options))
    if options.select:
        config = replace(config, select=_codes(options.select, "--select"), ignore=(), extend_select=())
    confidence = config.min_confidence
    if options.min_confidence:
        try:
            confidence = parse_confidence(options.min_confidence)
        except ValueError as error:
            raise ConfigError(f"--min-confidence: {error}") from error
    return replace(
        config,
        ignore=config.ignore + _codes(options.ignore, "--ignore"),
        extend_select=config.extend_select + _codes(options.extend_select, "--extend-select"),
        min_confidence=confidence,
        when=options.when or config.when,
        exclude=config.exclude + _patterns(options.exclude),
        baseline=options.baseline or config.baseline,
        facts=options.facts or config.facts,
        environment=options.environment or config.environment,
    )


def _patterns(values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the patterns of ``--exclude``, which are relative to the folder of the settings."""
    if bad := read_patterns(values)[1]:
        raise ConfigError(f"--exclude: {bad[0]!r} is no pattern of paths; write it as in a .gitignore")
    return values


def _codes(values: tuple[str, ...], option: str) -> tuple[str, ...]:
    try:
        return parse_codes([code for value in values for code in value.split(",")])
    except ValueError as error:
        raise ConfigError(f"{option}: {error}") from error


def _common_folder(options: CheckOptions) -> Path:
    """Return the folder from which the search for the nearest configuration starts."""
    names = [options.stdin_filename or "."] if options.paths == (STDIN,) else options.paths or (".",)
    folders = [path if path.is_dir() else path.parent for path in (Path(name).absolute() for name in names)]
    try:
        return Path(os.path.commonpath(folders)).resolve()
    except ValueError:  # on two drives of Windows
        return Path.cwd()


def refuse_unknown_entry_points(options: CheckOptions, config: Config, project: Project) -> None:
    """Raise ConfigError if `hot` or `sync-free` names a module that does not exist.

    The function judges only modules that the run would have read: of the whole project, or of a package that the run reads.
    """
    named = [Path(path).resolve() for path in options.paths or (".",)]
    is_whole = config.source is not None and any(config.root.is_relative_to(path) for path in named)
    modules = project.modules
    packages = {module.partition(".")[0] for module in modules}
    named_by = [("hot", name) for name in config.hot] + [("sync-free", name) for name in config.sync_free]
    for setting, name in named_by:
        module = name.partition(":")[0]
        is_read = is_whole or (module.partition(".")[0] in packages and not is_outside(module))
        if is_read and not project.has_module(module):
            hint = suggestion(module, modules, "write it as 'package.module:Class.method'")
            where = f"{config.source}: [tool.syncscan]"
            raise ConfigError(f"{where}: {setting}: the project has no module {module!r}; {hint}")


def files_of(options: CheckOptions, config: Config) -> tuple[Path, ...]:
    """Return the files besides the sources on which findings depend, whether the files exist or not."""
    start = _common_folder(options)
    settings = (
        [Path(options.config)] if options.config else [f / "pyproject.toml" for f in (start, *start.parents)]
    )
    return (*settings, *filter(None, (config.source, config.baseline)), *config.extended, *config.facts)


def store_of(options: CheckOptions) -> Store | None:
    """Return the cache of results; none for an editor's buffer, which changes with each key."""
    return store_in(options.cache_dir, is_used=not (options.no_cache or options.reads_stdin))


def store_in(named: Path | None, *, is_used: bool) -> Store | None:
    """Return the cache in a folder, by default in the user's folder; None where none is to be used, or there is no home."""
    if named and named.exists() and not named.is_dir():
        raise ConfigError(f"--cache-dir {named} is no folder; name one, which need not be there")
    folder = named or default_folder()
    return Store(folder) if folder is not None and is_used else None

"""The options of ``syncscan check``: what they are, which of them contradict each other, and the settings that they give."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from syncscan.check.discover import Project
from syncscan.check.files import is_outside
from syncscan.check.store import Store, default_folder
from syncscan.config import Config, find_config, load_config, parse_codes, parse_confidence
from syncscan.errors import ConfigError, suggestion

STDIN = "-"


@dataclass(frozen=True, slots=True)
class Options:
    """The command line as given."""

    paths: tuple[str, ...]
    stdin_filename: str | None
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    extend_select: tuple[str, ...]
    min_confidence: str | None
    hot_only: bool
    all: bool
    output_format: str
    outputs: tuple[tuple[str, Path], ...]
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
    statistics: bool
    exit_zero: bool
    config: str | None
    isolated: bool
    show_settings: bool
    cache_dir: Path | None
    no_cache: bool
    jobs: int

    @property
    def writes(self) -> bool:
        """Whether sources are written."""
        return (self.fix or self.unsafe_fixes or self.add_ignores) and not self.diff


def refuse_contradictions(options: Options) -> None:
    """ConfigError where options contradict each other."""
    _refuse_contradicting_paths(options)
    _refuse_contradicting_writes(options)
    if options.cache_dir and options.no_cache:
        raise ConfigError(
            "--cache-dir names a folder for results and --no-cache keeps none; give one of them"
        )


def _refuse_contradicting_paths(options: Options) -> None:
    if STDIN in options.paths and len(options.paths) > 1:
        raise ConfigError("- reads standard input, so it is the only path")
    if options.stdin_filename and options.paths != (STDIN,):
        raise ConfigError("--stdin-filename needs - as the path")
    if options.all and options.hot_only:
        raise ConfigError("--all reports what runs at any time and --hot-only in a step; give one of them")
    if options.config and options.isolated:
        raise ConfigError("--config names a file and --isolated ignores it; give one of them")
    if options.output_format != "text" and (options.statistics or options.diff):
        option = "--statistics" if options.statistics else "--diff"
        raise ConfigError(f"{option} is text; leave --format {options.output_format} out")
    if options.diff and options.statistics:
        raise ConfigError("--diff shows the fixes and --statistics counts the findings; give one of them")


def _refuse_contradicting_writes(options: Options) -> None:
    if options.add_ignores and (options.fix or options.unsafe_fixes):
        raise ConfigError("--add-ignores keeps what fixes change; give one of them at a time")
    if options.add_ignores and options.reason is None:
        raise ConfigError("--add-ignores needs --reason TEXT, which each comment gives")
    if options.reason is not None and not options.add_ignores:
        raise ConfigError("--reason is for the comments that --add-ignores writes")
    if options.baseline and options.write_baseline:
        raise ConfigError("--baseline reads a file and --write-baseline writes one; give one of them")
    if options.write_baseline and (options.writes or options.diff or STDIN in options.paths):
        raise ConfigError("--write-baseline takes the files as they are; leave fixes and - out")
    if options.since and (options.writes or options.diff or options.write_baseline or STDIN in options.paths):
        raise ConfigError(
            "--since only reports what a change brings; leave fixes, --write-baseline and - out"
        )


def settings(options: Options) -> Config:
    """The settings that apply: those of the file that the options choose, and what the options add to them."""
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
        hot_only=(config.hot_only or options.hot_only) and not options.all,
        all=(config.all or options.all) and not options.hot_only,
        baseline=options.baseline or config.baseline,
    )


def _codes(values: tuple[str, ...], option: str) -> tuple[str, ...]:
    try:
        return parse_codes([code for value in values for code in value.split(",")])
    except ValueError as error:
        raise ConfigError(f"{option}: {error}") from error


def _common_folder(options: Options) -> Path:
    """The folder from which the nearest configuration is looked for."""
    names = [options.stdin_filename or "."] if options.paths == (STDIN,) else options.paths or (".",)
    folders = [path if path.is_dir() else path.parent for path in (Path(name).absolute() for name in names)]
    try:
        return Path(os.path.commonpath(folders)).resolve()
    except ValueError:  # on two drives of Windows
        return Path.cwd()


def refuse_unknown_entry_points(options: Options, config: Config, project: Project) -> None:
    """ConfigError where `hot` names a module that would have been read if there were one.

    That is in a run over the whole project, and where anything of the package is read.
    """
    if not config.hot:
        return
    named = [Path(path).resolve() for path in options.paths or (".",)]
    is_whole = config.source is not None and any(config.root.is_relative_to(path) for path in named)
    modules = {source.module for source in project.sources}
    packages = {module.partition(".")[0] for module in modules}
    for name in config.hot:
        module = name.partition(":")[0]
        is_read = is_whole or (module.partition(".")[0] in packages and not is_outside(module))
        if is_read and module not in modules:
            hint = suggestion(module, modules, "write it as 'package.module:Class.method'")
            where = f"{config.source}: [tool.syncscan]"
            raise ConfigError(f"{where}: hot: the project has no module {module!r}; {hint}")


def store_of(options: Options) -> Store | None:
    """Where results are kept: not those of an editor's buffer, which is another one after each key."""
    folder = options.cache_dir or default_folder()
    if options.cache_dir and options.cache_dir.exists() and not options.cache_dir.is_dir():
        raise ConfigError(f"--cache-dir {options.cache_dir} is no folder; name one, which need not be there")
    if folder is None or options.no_cache or STDIN in options.paths:
        return None
    return Store(folder)

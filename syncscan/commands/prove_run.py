"""The work of ``syncscan prove``: the files, a stored certificate or a proof, the report and the exit status.

A stored certificate needs neither the engine nor traces, whose modules are therefore imported when they are used.
"""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any, TextIO

import click

from syncscan.check.baseline import Baseline, compare, read_baseline
from syncscan.check.cache import Store, key_of_proof, key_of_result
from syncscan.check.discover import Project, load_project
from syncscan.check.prove.answer import Certificate, NamedObstacle
from syncscan.check.prove.stored import certificate_of, data_of
from syncscan.commands.check_options import store_in
from syncscan.config import Config, find_config, load_config
from syncscan.errors import EXIT_ERROR, EXIT_FINDINGS, EXIT_OK, ConfigError, SyncscanError, suggestion
from syncscan.facts import merged
from syncscan.report.formats import write_whole
from syncscan.report.progress import ProgressBar
from syncscan.report.safe_text import safe_line
from syncscan.system.files import replace_file
from syncscan.system.memory import steady_memory
from syncscan.words import plural


@dataclass(frozen=True, slots=True)
class ProveOptions:
    """The command line as given."""

    entry: str
    paths: tuple[str, ...]
    assume: tuple[str, ...]
    given: tuple[Path, ...]
    facts: tuple[Path, ...]
    max_obstacles: int | None
    baseline: Path | None
    write_baseline: Path | None
    output_format: str
    output_file: Path | None
    quiet: bool
    config: str | None
    isolated: bool
    cache_dir: Path | None
    no_cache: bool


def run(options: ProveOptions) -> int:
    """Prove, report, and return the exit status."""
    with steady_memory():
        status = _run(options)
        gc.freeze()  # the end of the process frees the memory at once; the collector would take seconds
    return status


def _run(options: ProveOptions) -> int:
    _refuse_contradictions(options)
    config = _settings(options)
    store = store_in(options.cache_dir, is_used=not options.no_cache)
    project = load_project([Path(path) for path in options.paths or (".",)], config)
    if not project.sources:
        raise SyncscanError(_why_empty(project, options))
    with ProgressBar(sys.stderr, is_quiet=options.quiet) as bar:
        certificate = _certified(options, config, project, store, bar)
    certificate, updated = _held_against(certificate, options, project)
    if options.write_baseline and updated is not None:
        replace_file(options.write_baseline, updated.text())
        entries = plural(updated.total, "finding")
        click.echo(safe_line(f"syncscan: {options.write_baseline} has {entries}"), err=True)
    _say_unused(certificate, options)
    _show(certificate, options, project)
    for failure in certificate.failures:
        click.echo(safe_line(f"syncscan: {failure.place}: {failure.message}"), err=True)
    if store is not None:
        store.finish()
    if certificate.failures:
        return EXIT_ERROR
    most = options.max_obstacles or 0
    return EXIT_OK if len(certificate.obstacles) <= most else EXIT_FINDINGS


def _refuse_contradictions(options: ProveOptions) -> None:
    """Raise ConfigError where options exclude one another, or name no function."""
    if options.baseline and options.write_baseline:
        raise ConfigError("--baseline reads a file and --write-baseline writes one; give one of them")
    if options.cache_dir and options.no_cache:
        raise ConfigError(
            "--cache-dir names a folder for results and --no-cache keeps none; give one of them"
        )
    if not all(options.entry.partition(":")):
        raise ConfigError(f"{options.entry!r} names no function; write it as 'package.module:Class.method'")


def _why_empty(project: Project, options: ProveOptions) -> str:
    """Return the reason for which no file was read."""
    failures = [f"{failure.place}: {failure.message}" for failure in project.failures]
    return "; ".join(failures) or f"no Python files in {', '.join(options.paths) or '.'}"


def _say_unused(certificate: Certificate, options: ProveOptions) -> None:
    """Name the written assumptions that the proof does not rest on: each may be meant otherwise."""
    for text in options.assume:
        if "=" in text and " ".join(text.split()) not in certificate.assumptions:
            reached = f"nothing that {options.entry} reaches depends on it"
            click.echo(safe_line(f"syncscan: --assume {text!r}: {reached}"), err=True)


def _settings(options: ProveOptions) -> Config:
    if options.config and options.isolated:
        raise ConfigError("--config names a file and --isolated ignores it; give one of them")
    if options.isolated:
        return Config(root=Path.cwd())
    return load_config(Path(options.config)) if options.config else find_config(Path.cwd())


def _certified(
    options: ProveOptions,
    config: Config,
    project: Project,
    store: Store | None,
    progress: Callable[[str, int, int], None],
) -> Certificate:
    """Return the certificate; the stored one where a proof of the same files, entry point and premises is in the store."""
    files = options.facts or config.facts
    facts = merged(files) if files else None
    assumptions = _assumptions(options.assume, config)
    failures = [list(astuple(failure)) for failure in project.failures]
    result, digests = key_of_result(project.sources, config, facts), _digests(options.given)
    key = key_of_proof(result, options.entry, assumptions, digests, failures)
    certificate = None if store is None else certificate_of(store.read_proof(key))
    if certificate is None:
        anew = importlib.import_module("syncscan.commands.prove_anew")
        about = anew.Subject(options.entry, project, config, assumptions, options.given, facts)
        certificate = anew.proved(about, store, progress)
        if store is not None:
            store.write_proof(key, data_of(certificate))
    return certificate


def _digests(traces: Sequence[Path]) -> list[str] | None:
    """Return what tells whether traces changed, without a look into them: their bytes, and the folder that they are seen from."""
    if not traces:
        return None
    load = importlib.import_module("syncscan.trace.load")
    return [str(Path.cwd()), *load.digests_of(traces)]


def _assumptions(given: Iterable[str], config: Config) -> list[str]:
    """Return the written assumptions, and the assumptions of the named configurations."""
    found: list[str] = []
    for text in given:
        if "=" in text:
            found.append(text)
        elif text in config.configurations:
            found += config.configurations[text]
        else:
            hint = suggestion(text, config.configurations, "write 'module:Class.attribute = CONSTANT'")
            raise ConfigError(f"--assume: no configuration {text!r} in the settings; {hint}")
    return found


def _held_against(
    certificate: Certificate, options: ProveOptions, project: Project
) -> tuple[Certificate, Baseline | None]:
    """Return the certificate without the baseline's findings, and the baseline of this run."""
    file = options.write_baseline or options.baseline
    if file is None:
        return certificate, None
    known = Baseline(file, {}) if options.write_baseline and not file.exists() else read_baseline(file)
    paths = {source.shown: source.path for source in project.sources}
    findings = [each.finding for each in certificate.obstacles]
    compared = compare(known, findings, (), paths, whole=paths)
    if options.write_baseline:
        return certificate, compared.updated
    new = {id(finding) for finding in compared.new}
    left: list[NamedObstacle] = [each for each in certificate.obstacles if id(each.finding) in new]
    held = replace(certificate, obstacles=tuple(left), known=len(compared.known), gone=compared.gone)
    return held, compared.updated


def _show(certificate: Certificate, options: ProveOptions, project: Project) -> None:
    def render(stream: TextIO) -> None:
        _RENDERERS[options.output_format](certificate, project, stream)

    if options.output_file is not None:
        write_whole(render, options.output_file)
    else:
        render(sys.stdout)


def _text(certificate: Certificate, _: Project, stream: TextIO) -> None:
    importlib.import_module("syncscan.report.proof_text").render(certificate, stream)


def _json(certificate: Certificate, _: Project, stream: TextIO) -> None:
    importlib.import_module("syncscan.report.proof_json").render(certificate, stream)


def _sarif(certificate: Certificate, project: Project, stream: TextIO) -> None:
    paths = {each.finding.path for each in certificate.obstacles}
    records = importlib.import_module("syncscan.report.records")
    report = records.Report(
        findings=tuple(each.finding for each in certificate.obstacles),
        failures=project.failures,
        texts={source.shown: source.text for source in project.sources if source.shown in paths},
    )
    importlib.import_module("syncscan.report.sarif").render(report, stream)


def _html(certificate: Certificate, project: Project, stream: TextIO) -> None:
    texts = {source.shown: source.text for source in project.sources}
    importlib.import_module("syncscan.report.html.of_proof").render(certificate, texts, stream)


_RENDERERS: dict[str, Callable[[Certificate, Project, Any], None]] = {
    "text": _text,
    "json": _json,
    "sarif": _sarif,
    "html": _html,
}

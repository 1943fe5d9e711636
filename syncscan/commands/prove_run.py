"""The work of ``syncscan prove``: the check of the project, the proof, the report and the exit status."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any, TextIO

import click

from syncscan.check.baseline import Baseline, compare, read_baseline
from syncscan.check.cache import Store, key_of_place, key_of_proof, key_of_state
from syncscan.check.discover import Project, load_project
from syncscan.check.files import Source
from syncscan.check.prove.certificate import Certificate, NamedObstacle, Proofs
from syncscan.check.prove.ran import Code, RunSeen, loaded
from syncscan.check.prove.stored import certificate_of, data_of
from syncscan.check.session import key_of_result, solved
from syncscan.commands.check_options import store_in
from syncscan.config import Config, find_config, load_config
from syncscan.errors import EXIT_ERROR, EXIT_FINDINGS, EXIT_OK, ConfigError, SyncscanError, suggestion
from syncscan.facts import merged
from syncscan.report import proof_json, proof_text, sarif
from syncscan.report.compared import shown_paths
from syncscan.report.formats import write_whole
from syncscan.report.html import of_proof
from syncscan.report.progress import ProgressBar
from syncscan.report.records import Report
from syncscan.report.safe_text import safe_line
from syncscan.report.words import plural
from syncscan.system.files import replace_file
from syncscan.system.memory import steady_memory
from syncscan.trace.load import read_traces
from syncscan.trace.trace import Trace


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
        return _run(options)


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
    """Return the certificate; the stored one where a proof of the same project, entry point and run is in the store."""
    files = options.facts or config.facts
    facts = merged(files) if files else None
    run = _run_seen(options, config, [source.shown for source in project.sources])
    sources = project.sources if run is None else loaded(project.sources, run, options.entry)
    assumptions = _assumptions(options.assume, config)
    failures = [list(astuple(failure)) for failure in project.failures]
    seen = None if run is None else run.data()
    result_key = key_of_result(sources, config, facts)
    key = key_of_proof(result_key, options.entry, assumptions, seen, failures)
    certificate = None if store is None else certificate_of(store.read_proof(key))
    if certificate is not None:
        return certificate
    place = key if run is not None else ""  # the files that ran are no state for a check of all
    result, solver = solved(sources, config, progress, 1, store, facts, place)
    failed = [*project.failures, *(failure for failure in result.failed if not failure.partial)]
    if store is None or facts:  # walks are not kept for facts, which each file may change
        return Proofs(solver, result.findings, sources, assumptions, run, failed).certify(options.entry)
    walks = _Walks(store, sources, config, options.entry, assumptions, seen)
    proofs = Proofs(solver, result.findings, sources, assumptions, run, failed, walks.read())
    certificate = proofs.certify(options.entry)
    store.write_proof(key, data_of(certificate))
    walks.write(proofs)
    return certificate


class _Walks:
    """The walks of a proof in a store, with and without assumptions; by default those of the last entry point."""

    def __init__(
        self,
        store: Store,
        sources: Sequence[Source],
        config: Config,
        entry: str,
        assumptions: list[str],
        seen: object,
    ) -> None:
        self._store = store
        name = key_of_state(sources, config.conventions, config.operations)
        place = key_of_place(config.conventions, config.operations)
        self._keys = [
            (key_of_proof(name, entry, assumptions, seen, sort), key_of_proof(place, assumptions, seen, sort))
            for sort in ("assumed", "plain")
        ]

    def read(self) -> list[bytes | None]:
        """Return what the last proof kept."""
        return [self._store.read_state(key, place, "walks") for key, place in self._keys]

    def write(self, proofs: Proofs) -> None:
        """Keep what a proof has computed."""
        for (key, place), data in zip(self._keys, (proofs.walks, proofs.plain_walks), strict=True):
            self._store.write_state(key, place, data, "walks")


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


def _run_seen(options: ProveOptions, config: Config, files: list[str]) -> RunSeen | None:
    """Return the observations of the traces, by the files of the project."""
    if not options.given:
        return None
    trace = read_traces(options.given, config.table())
    if trace["lines"] is None:
        raise SyncscanError(
            f"{options.given[0]}: made without --calls; trace the program again with `syncscan trace --calls`, in Python 3.12 or newer"
        )
    shown = shown_paths(Path.cwd(), set(files))
    ran: dict[str, set[int]] = {}
    for name, ranges in trace["lines"].items():
        if (path := shown(name)) is not None:
            ran.setdefault(path, set()).update(n for first, last in ranges for n in range(first, last + 1))
    synchronized: dict[str, set[int]] = {}
    for site in trace["sites"]:
        if site["line"] and site["allowed"] is None and (path := shown(site["path"])) is not None:
            synchronized.setdefault(path, set()).add(site["line"])
    callers = _callers_of(trace, shown)
    calls: dict[Code, set[Code]] = {}
    for code, found in callers.items():
        for caller, _ in found:
            calls.setdefault(caller, set()).add(code)
    return RunSeen(ran, synchronized, _callees_of(trace, shown), calls, callers)


def _callees_of(
    trace: Trace, shown: Callable[[str], str | None]
) -> dict[str, dict[tuple[int, int], set[str]]]:
    """Return the names that each call had, by the end of the call."""
    callees: dict[str, dict[tuple[int, int], set[str]]] = {}
    for name, rows in trace["callees"].items():
        known = callees.setdefault(shown(name) or name, {})
        for _, _, line, column, names in rows:
            known.setdefault((line, column), set()).update(names)
    return callees


def _callers_of(trace: Trace, shown: Callable[[str], str | None]) -> dict[Code, set[tuple[Code, int]]]:
    """Return the callers of each piece of code, with the line of the call."""
    callers: dict[Code, set[tuple[Code, int]]] = {}
    for name, rows in trace["callers"].items():
        for line, caller, first, at in rows:
            code = (shown(name) or name, line)
            callers.setdefault(code, set()).add(((shown(caller) or caller, first), at))
    return callers


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


def _sarif(certificate: Certificate, project: Project, stream: TextIO) -> None:
    paths = {each.finding.path for each in certificate.obstacles}
    report = Report(
        findings=tuple(each.finding for each in certificate.obstacles),
        failures=project.failures,
        texts={source.shown: source.text for source in project.sources if source.shown in paths},
    )
    sarif.render(report, stream)


def _html(certificate: Certificate, project: Project, stream: TextIO) -> None:
    of_proof.render(certificate, {source.shown: source.text for source in project.sources}, stream)


_RENDERERS: dict[str, Callable[[Certificate, Project, Any], None]] = {
    "text": lambda certificate, _, stream: proof_text.render(certificate, stream),
    "json": lambda certificate, _, stream: proof_json.render(certificate, stream),
    "sarif": _sarif,
    "html": _html,
}

"""The proof where the store has no certificate: the check of the project, and the walks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

from syncscan.check.cache import Store, key_of_place, key_of_proof, key_of_result, key_of_state
from syncscan.check.discover import Project
from syncscan.check.files import Source
from syncscan.check.prove.answer import Certificate
from syncscan.check.prove.certificate import Proofs
from syncscan.check.prove.ran import RunSeen, loaded
from syncscan.check.prove.stored import certificate_of, data_of
from syncscan.check.session import solved
from syncscan.commands.prove_given import run_seen
from syncscan.config import Config
from syncscan.facts import FactSet


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a proof: the entry point, the files, and the premises."""

    entry: str
    project: Project
    config: Config
    assumptions: list[str]
    given: Sequence[Path]
    facts: FactSet | None


def proved(asked: Subject, store: Store | None, progress: Callable[[str, int, int], None]) -> Certificate:
    """Return the certificate; of a run, the stored one where nothing that ran has changed. The store receives it, and the walks."""
    project, config, facts = asked.project, asked.config, asked.facts
    sources: Sequence[Source] = project.sources
    run, key = None, ""
    if asked.given:
        run = run_seen(asked.given, config, [source.shown for source in sources])
        sources = loaded(sources, run, asked.entry)
        failed = [list(astuple(failure)) for failure in project.failures]
        files = key_of_result(sources, config, facts)
        key = key_of_proof(files, asked.entry, asked.assumptions, run.data(), failed)
        stored = None if store is None else certificate_of(store.read_proof(key))
        if stored is not None:
            return stored
    # The files that ran are no state for a check of all.
    result, solver = solved(sources, config, progress, 1, store, facts, key)
    failures = [*project.failures, *(failure for failure in result.failed if not failure.partial)]
    # Walks are not kept for facts, which each file may change.
    walks = None if store is None or facts else _Walks(store, asked, sources, run)
    kept = None if walks is None else walks.read()
    proofs = Proofs(solver, result.findings, sources, asked.assumptions, run, failures, kept)
    certificate = proofs.certify(asked.entry)
    if store is not None and key:
        store.write_proof(key, data_of(certificate))
    if walks is not None:
        walks.write(proofs)
    return certificate


class _Walks:
    """The walks of a proof in a store, with and without assumptions; by default those of the last entry point."""

    def __init__(self, store: Store, asked: Subject, sources: Sequence[Source], run: RunSeen | None) -> None:
        self._store = store
        config, seen = asked.config, None if run is None else run.data()
        name = key_of_state(sources, config.conventions, config.operations)
        place = key_of_place(config.conventions, config.operations)
        self._keys = [
            (
                key_of_proof(name, asked.entry, asked.assumptions, seen, sort),
                key_of_proof(place, asked.assumptions, seen, sort),
            )
            for sort in ("assumed", "plain")
        ]

    def read(self) -> list[bytes | None]:
        """Return what the last proof kept."""
        return [self._store.read_state(key, place, "walks") for key, place in self._keys]

    def write(self, proofs: Proofs) -> None:
        """Keep what a proof has computed."""
        for (key, place), data in zip(self._keys, (proofs.walks, proofs.plain_walks), strict=True):
            self._store.write_state(key, place, data, "walks")

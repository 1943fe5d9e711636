"""The proof where the store has no certificate: the check of the project, and the walks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from syncscan.check.cache import Store, key_of_place, key_of_proof, key_of_state
from syncscan.check.files import Source
from syncscan.check.prove.answer import Certificate
from syncscan.check.prove.certificate import Proofs
from syncscan.check.prove.ran import RunSeen
from syncscan.check.prove.stored import data_of
from syncscan.check.session import solved
from syncscan.config import Config
from syncscan.facts import FactSet
from syncscan.model import Failure


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a proof: the entry point, the files, and the premises."""

    entry: str
    sources: Sequence[Source]
    config: Config
    assumptions: list[str]
    run: RunSeen | None
    facts: FactSet | None
    failures: Sequence[Failure]


def proved(
    asked: Subject, store: Store | None, key: str, progress: Callable[[str, int, int], None]
) -> Certificate:
    """Return the certificate; the store receives the certificate under a name, and the walks."""
    sources, config, run, facts = asked.sources, asked.config, asked.run, asked.facts
    place = key if run is not None else ""  # the files that ran are no state for a check of all
    result, solver = solved(sources, config, progress, 1, store, facts, place)
    failed = [*asked.failures, *(failure for failure in result.failed if not failure.partial)]
    # Walks are not kept for facts, which each file may change.
    walks = None if store is None or facts else _Walks(store, asked)
    kept = None if walks is None else walks.read()
    proofs = Proofs(solver, result.findings, sources, asked.assumptions, run, failed, kept)
    certificate = proofs.certify(asked.entry)
    if store is not None:
        store.write_proof(key, data_of(certificate))
    if walks is not None:
        walks.write(proofs)
    return certificate


class _Walks:
    """The walks of a proof in a store, with and without assumptions; by default those of the last entry point."""

    def __init__(self, store: Store, asked: Subject) -> None:
        self._store = store
        config, seen = asked.config, None if asked.run is None else asked.run.data()
        name = key_of_state(asked.sources, config.conventions, config.operations)
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

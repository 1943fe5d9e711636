"""Programs and projects, and their certificates."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path

from syncscan.check.engine import Engine
from syncscan.check.files import Source
from syncscan.check.infer.solve.solver import Solver
from syncscan.check.prove.answer import Certificate
from syncscan.check.prove.certificate import Proofs
from syncscan.check.prove.ran import RunSeen
from syncscan.facts import FactSet
from syncscan.model import Conventions
from syncscan.ops import load_table

# Of `tests.check.changing.project`.
ENTRIES = ("main:main", "nets:run", "derived:Fast.read")
# The imports and definitions that programs which hide a wait share.
PRELUDE = """
    import collections, contextlib, dataclasses, enum, functools, json, logging, re, sys, threading
    from dataclasses import dataclass
    from typing import Any, NamedTuple, Optional, Protocol
    def wait() -> int:
        torch.cuda.synchronize()
        return 1
    class Waiting:
        def __init__(self, *args) -> None:
            torch.cuda.synchronize()
        def go(self) -> int:
            return 1
    class Caller:
        def __call__(self, *args) -> None:
            torch.cuda.synchronize()
    class Job(Protocol):
        def __call__(self) -> int: ...
    class Go(Protocol):
        def go(self) -> int: ...
"""


def assert_the_wait_decides(program: str) -> None:
    """Assert that a program is not proved with its explicit synchronization, and is proved without."""
    assert not proved(program).is_proved
    assert proved(program.replace("torch.cuda.synchronize()", "None")).is_proved


def proved(
    program: str,
    *assumptions: str,
    entry: str = "step",
    run: RunSeen | None = None,
    operations: dict[str, object] | None = None,
    facts: FactSet | None = None,
) -> Certificate:
    """Return the certificate of a function of a module `program` that has imported torch."""
    files = {"program": program}
    return proved_files(
        files, *assumptions, entry=f"program:{entry}", run=run, operations=operations, facts=facts
    )


def proved_files(
    files: Mapping[str, str],
    *assumptions: str,
    entry: str,
    run: RunSeen | None = None,
    operations: dict[str, object] | None = None,
    facts: FactSet | None = None,
) -> Certificate:
    """Return the certificate of a function of several modules that have imported torch; ``a.__init__`` is a package."""
    sources = [
        Source(Path(f"/{path}.py"), f"{path}.py", name.removesuffix(".__init__"), _text(text))
        for name, text in files.items()
        for path in [name.replace(".", "/")]
    ]
    engine = Engine(Conventions(), table=load_table().with_own(operations or {}), facts=facts)
    result = engine.check(sources, None, lambda *_: None)
    assert result.failed == []
    solver = engine.solver
    assert isinstance(solver, Solver)
    return Proofs(solver, result.findings, sources, assumptions, run).certify(entry)


def _text(program: str) -> str:
    return "import torch\n" + textwrap.dedent(program)


def certificates(
    sources: dict[str, Source], state: bytes | None = None, stages: list[str] | None = None
) -> tuple[list[Certificate], Engine]:
    """Return the certificates of the existing entry points, and their engine; records its ``stages``."""
    stages = [] if stages is None else stages
    engine = Engine(Conventions(), state=state)
    result = engine.check([*sources.values()], None, lambda stage, *_: stages.append(stage))
    assert engine.solver is not None
    proofs = Proofs(engine.solver, result.findings, sources.values())
    known = {f"{m.name}:{f.qualname}" for m in engine.solver.context.modules for f in m.functions}
    return [proofs.certify(entry) for entry in ENTRIES if entry in known], engine


def proved_in_turn(entry: str, *versions: Mapping[str, Source]) -> Iterator[Certificate]:
    """Yield the certificate of each version of a project, each with the walks that the one before kept."""
    kept: list[bytes | None] = [None, None]
    for sources in versions:
        engine = Engine(Conventions())
        findings = engine.check([*sources.values()], None, lambda *_: None).findings
        assert engine.solver is not None
        proofs = Proofs(engine.solver, findings, sources.values(), kept=kept)
        yield proofs.certify(entry)
        kept = [proofs.walks(), None]

"""A program, and the certificate of its function `step`."""

from __future__ import annotations

import textwrap
from pathlib import Path

from syncscan.check.engine import Engine
from syncscan.check.files import Source
from syncscan.check.infer.solve.solver import Solver
from syncscan.check.prove.certificate import Certificate, Proofs
from syncscan.check.prove.ran import RunSeen
from syncscan.facts import FactSet
from syncscan.model import Conventions
from syncscan.ops import load_table


def proved(
    program: str,
    *assumptions: str,
    entry: str = "step",
    run: RunSeen | None = None,
    operations: dict[str, object] | None = None,
    facts: FactSet | None = None,
) -> Certificate:
    """Return the certificate of a function of a module `program` that has imported torch."""
    text = "import torch\n" + textwrap.dedent(program)
    source = Source(Path("/program.py"), "program.py", "program", text)
    engine = Engine(Conventions(), table=load_table().with_own(operations or {}), facts=facts)
    result = engine.check([source], None, lambda *_: None)
    assert result.failed == []
    solver = engine.solver
    assert isinstance(solver, Solver)
    return Proofs(solver, result.findings, [source], assumptions, run).certify(f"program:{entry}")

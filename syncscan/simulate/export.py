"""Export the code of the simulation and the operation table, as plain data, to a traced program."""

from __future__ import annotations

import functools
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from syncscan.ops import Case, Operation, OperationTable, Term, parse_operations
from syncscan.ops.kinds import alternatives

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

INSIDE = Path(__file__).parent / "inside"
TRACED_PACKAGE = "_syncscan_simulate"  # the name of that package in a traced program
TABLE_FILE = "operations"


def prepare_simulation(folder: Path, operations: OperationTable) -> str:
    """Write the operation table into the folder of a trace; return the folder of the simulation's code."""
    table = json.dumps(plain_table(operations))
    (folder / TABLE_FILE).write_text(table, encoding="utf-8")
    return str(INSIDE)


def plain_table(table: OperationTable) -> dict[str, Any]:
    """Return the operation table as JSON-serialisable data for a child process."""
    aliases = {alias: each for each in table.operations.values() for alias in each.aliases}
    known = {**_of_libraries(), **aliases, **table.operations}
    return {name: _plain_operation(operation) for name, operation in known.items()}


@functools.cache
def _of_libraries() -> dict[str, Operation]:
    entries = tomllib.loads((Path(__file__).parent / "libraries.toml").read_text(encoding="utf-8"))
    return parse_operations(entries)


@functools.cache
def _plain_operation(operation: Operation) -> dict[str, Any]:
    return {
        "name": operation.name,
        "args": list(operation.args),
        "result": operation.result,
        "count": operation.count,
        "interpret": operation.interpret,
        "shapes": [shape.split(", ") for shape in operation.shapes],
        "cases": [_plain_case(case) for case in operation.blocks],
    }


def _plain_case(case: Case) -> dict[str, Any]:
    return {
        "effect": case.effect.value,
        "when": [_plain_term(term) for term in case.when],
        "unless": [_plain_term(term) for term in case.unless],
    }


def _plain_term(term: Term) -> dict[str, Any]:
    return asdict(term) | {"kind": list(alternatives(term.kind)) if term.kind else []}

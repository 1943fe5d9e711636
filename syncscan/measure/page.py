"""Make the page of the documentation on operations from the table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from syncscan.measure.handwritten import sheets
from syncscan.measure.write import condition_text
from syncscan.ops import Case, Effect, Operation, OperationTable, reads_number

_EFFECTS = {
    Effect.DOWNLOAD: "Downloads",
    Effect.UPLOAD: "Uploads",
    Effect.SCALAR: "Reads of a scalar",
    Effect.SHAPE: "Shapes that depend on data",
    Effect.CHECK: "Checks of errors on the host",
    Effect.WAIT: "Explicit synchronization",
    Effect.ALWAYS: "Other synchronization",
}

_HEAD = """\
# Operation table: effects on the host

This page is made from `rules/ops.toml` by `python docs/generate.py`; do not edit it.

Measured on {gpu} with torch {torch} on {date}: {measured} operations. {waiting} of them block the CPU
under some condition. Each was called behind a kernel that keeps the GPU busy. A call blocked if it returned
only after that kernel had ended, in each trial. `syncscan ops show NAME` prints an entry; `syncscan ops
verify` measures again on your machine and prints the differences. An operation outside the table is taken
to leave its result on the device of its operands, and not to block.

A tensor on the GPU in place of a Python number is read, which blocks the CPU. That concerns {readers}
operations, for the parameters that their entries list under `reads`; the tables below leave it out.
"""

_EXPLAINED = """\
## Differences from common belief and earlier measurements

- **Pageable uploads with `non_blocking=True`** are believed to return at once up to 64 KiB. On this machine
  every copy of up to 2 MiB did, and every larger one blocked. An earlier measurement had 16 numbers and
  4 MiB, and agrees. The limit is the driver's: measure it on yours.
- **`torch.cuda.empty_cache()`** does not block when there is nothing to free, as in the earlier
  measurement; freeing a cached block does.
- **Tensors without elements** are neither copied nor read: `to`, `cuda`, `cpu`, `copy_`, `tolist` and `torch.tensor([], device=...)`
  of one do not block, pinned or not; `nonzero` of one does.
- **`round(t)`** raises `TypeError` on a tensor with this torch; it neither blocks nor gives a number.
- **`torch.equal(x, x)`** of the same tensor returns at once; of two tensors of one shape it blocks.
"""


def operations_page(table: OperationTable) -> str:
    """Return the whole page, as Markdown."""
    entries = list(table.operations.values())
    measured = [entry for entry in entries if entry.measured]
    waiting = [entry for entry in measured if entry.blocks or entry.sometimes]
    counts = {
        "measured": len(measured),
        "waiting": len(waiting),
        "readers": sum(any(_is_read(case) for case in entry.blocks) for entry in entries),
    }
    parts = [_HEAD.format(**{"gpu": "?", "torch": "?", "date": "?"} | table.measured_on | counts)]
    parts += [_surprises(table), _EXPLAINED]
    parts += [_section(title, effect, entries) for effect, title in _EFFECTS.items()]
    parts += [_sometimes(entries), _silent(measured)]
    return "\n".join(part for part in parts if part)


def _surprises(table: OperationTable) -> str:
    rows = [
        f"| `{name}` | {sheet.belief} | {_verdict(table.operations[name])} |"
        for name, sheet in sorted(sheets().items())
        if sheet.belief and name in table.operations
    ]
    return "\n".join(["## Surprises", "", "| operation | | measured |", "|---|---|---|", *rows, ""])


def _verdict(entry: Operation) -> str:
    cases = [_condition(case) for case in entry.blocks if not _is_read(case)]
    cases += [f"in some calls {_condition(case)}" for case in entry.sometimes]
    verdict = f"blocks: {'; or '.join(cases)}" if cases else "does not block"
    reads = [f"`{case.when[0].arg}`" for case in entry.blocks if _is_read(case)]
    return f"{verdict}; reads {', '.join(reads)}" if reads else verdict


def _is_read(case: Case) -> bool:
    return (
        bool(case.when)
        and case == reads_number(case.when[0].arg)
        and case.when[0].arg not in {"input", "any", "self"}
    )


def _condition(case: Case) -> str:
    text = f"when {condition_text(case.when)}" if case.when else "whatever is given"
    return f"{text}, unless {condition_text(case.unless)}" if case.unless else text


def _section(title: str, effect: Effect, entries: Iterable[Operation]) -> str:
    rows = [
        f"| `{entry.name}` | {_condition(case)} |"
        for entry in entries
        for case in entry.blocks
        if case.effect is effect and not _is_read(case)
    ]
    return "\n".join([f"## {title}", "", "| operation | blocks |", "|---|---|", *rows, ""]) if rows else ""


def _sometimes(entries: Iterable[Operation]) -> str:
    rows = [f"| `{entry.name}` | {_condition(case)} |" for entry in entries for case in entry.sometimes]
    head = (
        "Measured to block in some calls and not in others, by a size or a value that no condition expresses."
    )
    return (
        "\n".join(["## Sometimes", "", head, "", "| operation | may block |", "|---|---|", *rows, ""])
        if rows
        else ""
    )


def _silent(entries: Iterable[Operation]) -> str:
    names = [entry.name for entry in entries if not entry.blocks and not entry.sometimes]
    return "\n".join(["## Measured not to block", "", *_wrapped(names)])


def _wrapped(names: Iterable[str]) -> Iterator[str]:
    line = ""
    for name in names:
        if len(line) + len(name) > 110:
            yield line.rstrip()
            line = ""
        line += f"`{name}` "
    yield line.rstrip() + "\n"

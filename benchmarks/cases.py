"""Verdicts of the simulated GPU against those of a real one, for the calls that the operation table was made from.

    python -m benchmarks.cases             replay the calls of syncscan/measure/cases.toml that were kept
    python -m benchmarks.cases keep RAW    keep the verdicts of a log that `syncscan ops measure --raw` wrote

The verdicts are in benchmarks/cases.json, by operation and line, with what they were measured on.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

KEPT = Path(__file__).with_suffix(".json")


class Difference(NamedTuple):
    """A line of which simulation and GPU do not say the same."""

    operation: str
    line: str
    measured: bool
    simulated: bool | str  # the error where there is one


def keep(raw: Path) -> None:
    """Add the verdicts of a log to those that are kept."""
    from syncscan.measure.campaign import read_log  # noqa: PLC0415 (a command needs only its own)

    header, units = read_log(raw)
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.is_file() else {"verdicts": {}}
    for record in (record for unit in units for record in unit["records"]):
        if "error" not in record and not record["code"].startswith("op_db "):
            kept["verdicts"].setdefault(record["op"], {})[record["code"]] = record["waited"]
    header.pop("operations", None)
    text = json.dumps({"measured_on": header, **kept} | {"measured_on": header}, indent=0, sort_keys=True)
    KEPT.write_text(text + "\n", encoding="utf-8")


def replay(share: int = 1) -> tuple[int, list[Difference]]:
    """Return how many lines were made on the simulated GPU, one in ``share``, and those whose verdict differs."""
    from syncscan.measure.handwritten import sheets  # noqa: PLC0415 (a command needs only its own)

    verdicts = json.loads(KEPT.read_text(encoding="utf-8"))["verdicts"]
    lines = [
        (sheet, line)
        for sheet in sheets().values()
        for line in sheet.cases
        if line in verdicts.get(sheet.op, ())
    ]
    lines = lines[::share]
    return len(lines), list(_differences(lines, verdicts))


def _differences(lines: list[Any], verdicts: dict[str, dict[str, bool]]) -> Iterator[Difference]:
    from syncscan import simulated_cuda  # noqa: PLC0415 (a command needs only its own)

    with warnings.catch_warnings(), simulated_cuda() as seen:
        warnings.simplefilter("ignore")
        for sheet, line in lines:
            measured, simulated = verdicts[sheet.op][line], _verdict(sheet, line, seen)
            if simulated is not measured:
                yield Difference(sheet.op, line, measured, simulated)


def _verdict(sheet: Any, line: str, seen: list[Any]) -> bool | str:
    from syncscan.measure.handwritten import probe  # noqa: PLC0415 (a command needs only its own)
    from syncscan.measure.operands import Operands  # noqa: PLC0415 (a command needs only its own)

    try:
        case = probe(sheet, line, Operands("cuda"))
        case.before()
        seen.clear()
        case.call()
    except Exception as error:  # whatever a line raises, the others go on
        return f"{type(error).__name__}: {str(error).splitlines()[0][:120]}"
    return bool(seen)


def main(arguments: list[str]) -> int:
    """Print how many verdicts agree, and each that differs."""
    if arguments[:1] == ["keep"]:
        keep(Path(arguments[1]))
        return 0
    total, differences = replay()
    print(f"{total - len(differences)} of {total} verdicts agree: {(total - len(differences)) / total:.1%}")
    for one in differences:
        print(f"  {one.operation}: {one.line}: measured {one.measured}, simulated {one.simulated}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

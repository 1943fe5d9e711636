"""``syncscan ops``: the operation table: show it, measure it, verify it."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import click

from syncscan.commands import parameters
from syncscan.errors import EXIT_FINDINGS, SyncscanError, closest, suggestion
from syncscan.words import plural

if TYPE_CHECKING:
    from syncscan.measure.campaign import Log
    from syncscan.ops import Operation


def _names() -> Iterable[str]:
    from syncscan.ops import load_table  # noqa: PLC0415 (for a shell that completes)

    return load_table().operations


@click.group("ops")
def command() -> None:
    """Show, measure or verify what each torch operation does to the host."""


@command.command(short_help="Print the entry of an operation.")
@click.argument("name", shell_complete=parameters.complete(_names))
def show(name: str) -> None:
    """Print the entry of an operation, such as torch.repeat_interleave."""
    from syncscan.config import find_config  # noqa: PLC0415 (`--help` imports no engine)
    from syncscan.measure.write import entry_text  # noqa: PLC0415 (`--help` imports no engine)
    from syncscan.ops import follows_default  # noqa: PLC0415 (`--help` imports no engine)

    config = find_config(Path.cwd())
    table = config.table()
    entry = table.find(name)
    if entry is None:
        taken = (
            ": `check` assumes that the operation does not block, and that its result lives with its operands"
        )
        hint = _suggestion(name, table.operations)
        raise SyncscanError(f"{name!r} is not in the table{taken if follows_default(name) else ''}; {hint}")
    how = "measured on" if entry.measured else "declared, not measured; the table was measured on"
    click.echo(entry_text(entry))
    if entry.name in table.own:
        click.echo(f"# declared in {config.source}")
        return
    click.echo(f"# {how} {', '.join(table.measured_on.values())}")


def _suggestion(name: str, operations: Iterable[str]) -> str:
    """Return a similar operation, compared by its last part: ``torch.`` makes any two names alike."""
    by_last: dict[str, list[str]] = {}
    for operation in operations:
        by_last.setdefault(operation.rpartition(".")[2], []).append(operation)
    module, _, last = name.rpartition(".")
    alike = by_last.get(closest(last, by_last) or "", [])
    return suggestion(f"{module or 'torch'}.{last}", alike, "write a whole name such as torch.nonzero")


@command.command(short_help="Measure operations on this machine's GPU.")
@click.argument("operations", nargs=-1, shell_complete=parameters.complete(_names))
@click.option("-o", "output", type=parameters.path, default=Path("ops.toml"), show_default=True)
@click.option("--raw", type=parameters.path, help="Where to keep the measurements [default: OUTPUT.jsonl].")
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Use earlier measurements; needs no GPU.",
)
def measure(operations: tuple[str, ...], output: Path, raw: Path | None, source: Path | None) -> None:
    """Measure OPERATIONS on this machine's GPU, or every one, and write the table.

    A run that is cut short leaves the table as it was; the next one goes on where it ended. Other
    operations than the named ones stay as they are in the table.
    """
    from syncscan.measure.campaign import read_log  # noqa: PLC0415 (`--help` imports no engine)
    from syncscan.measure.derive import derive, replace_measured  # noqa: PLC0415 (`--help` imports no engine)
    from syncscan.measure.opinfo import with_aliases  # noqa: PLC0415 (`--help` imports no engine)
    from syncscan.measure.report import coverage  # noqa: PLC0415 (`--help` imports no engine)
    from syncscan.measure.write import write_table  # noqa: PLC0415 (`--help` imports no engine)
    from syncscan.ops import load_table, parse_table  # noqa: PLC0415 (`--help` imports no engine)
    from syncscan.system.files import replace_file  # noqa: PLC0415 (`--help` imports no engine)

    raw = raw or output.with_suffix(".jsonl")
    log = None if source else _measured(raw, operations)
    header, units = read_log(source or raw, complete=source is not None)
    records = [record for unit in units for record in unit["records"]]
    only = header.pop("operations", "").split()
    entries = replace_measured(records, load_table(), only, header) if only else derive(records, load_table())
    text = write_table(with_aliases(entries), header)
    parse_table(text)
    replace_file(output, text)
    if log:
        log.close()
    if not only:
        click.echo(coverage(units))
    written = plural(len(only) or _measured_count(entries), "operation")
    click.echo(f"{written} written to {output}")


@command.command(short_help="Measure again, and print what differs from the table.")
def verify() -> None:
    """Measure again, here, and print where this GPU and torch differ from the table.

    Exit status 1 if anything differs.
    """
    from syncscan.measure.campaign import read_log  # noqa: PLC0415 (`--help` imports no engine)
    from syncscan.measure.derive import derive  # noqa: PLC0415 (`--help` imports no engine)
    from syncscan.measure.report import differences  # noqa: PLC0415 (`--help` imports no engine)
    from syncscan.ops import load_table  # noqa: PLC0415 (`--help` imports no engine)

    table = load_table()
    with tempfile.TemporaryDirectory() as folder:
        log = _measured(Path(folder) / "verify.jsonl")
        header, units = read_log(log.path)
    found = derive((record for unit in units for record in unit["records"]), table)
    lines = differences(table.operations, found)
    for line in lines:
        click.echo(line)
    here, there = (f"{on.get('gpu')}, torch {on.get('torch')}" for on in (header, table.measured_on))
    click.echo(
        f"{len(lines)} of {plural(_measured_count(found), 'operation')} differ: measured on {here}; the table on {there}"
    )
    if lines:
        raise click.exceptions.Exit(EXIT_FINDINGS)


def _measured_count(entries: dict[str, Operation]) -> int:
    return sum(entry.measured for entry in entries.values())


def _measured(path: Path, operations: Sequence[str] = ()) -> Log:
    """Measure these operations, or all, with a line of progress on stderr."""
    try:
        import torch  # noqa: PLC0415 (`--help` imports no engine)
    except ModuleNotFoundError as error:
        raise SyncscanError("measuring needs torch: pip install 'syncscan[measure]'") from error
    if not torch.cuda.is_available():
        raise SyncscanError(
            "measuring needs an NVIDIA GPU, and torch sees none; `syncscan ops show` needs none"
        )
    from syncscan.measure.campaign import Log, all_units, measure_all, units_of  # noqa: PLC0415 (`--help` imports no engine)

    header = {"gpu": torch.cuda.get_device_name(0), "torch": str(torch.__version__)}
    header["date"] = datetime.now(timezone.utc).strftime("%Y-%m-%d")
    units = units_of(operations) if operations else all_units()
    log = Log(path, header | ({"operations": " ".join(operations)} if operations else {}))

    def tell(done: int, of: int) -> None:
        if sys.stderr.isatty():
            click.echo(f"\r{done}/{of}", nl=done == of, err=True)

    measure_all(log, units, tell=tell)
    return log

"""Runs the command of ``trace`` and of ``observe``, and then makes its report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from syncscan.commands.exit_handling import tell
from syncscan.errors import EXIT_OK, SyncscanError
from syncscan.ops import OperationTable
from syncscan.simulate.export import prepare_simulation
from syncscan.trace import launch
from syncscan.trace.front import Front
from syncscan.trace.launch import During, Launched


def run(
    command: Sequence[str],
    parts: Path,
    options: dict[str, str],
    front: Front,
    report: Callable[[Launched], int],
    simulated: OperationTable | None,
    during: During | None = None,
) -> int:
    """Run a command with the hook inside; ``report`` follows, and its status counts if the command succeeded.

    With the table of a GPU to be ``simulated``, the command runs on that. Returns the exit status; a signal that ended the command has ended this process too.
    """
    if simulated is not None:
        options["simulator"] = prepare_simulation(parts, simulated)
    launched = launch.run(list(command), parts, options, front, during)
    if launch.lacks_room(parts):
        tell(SyncscanError(f"{parts.parent}: no space left on device: what ran last may be missing"))
    status = EXIT_OK
    try:
        status = report(launched)
    except OSError as error:  # no room for the report, or nobody reads it
        tell(error)
    except (Exception, KeyboardInterrupt) as error:
        status = tell(error)
    if launched.code < 0:
        front.take(-launched.code)
    return launched.status or status

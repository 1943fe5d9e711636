"""What the hook adds to each short Python process: processor time of ``python -c pass``, alone and traced.

    python -m benchmarks.process_start [ROUNDS [HOOK_FOLDER...]]

All variants are interleaved in one run. Prints the median of the processor time (user and system) of each,
and the median of its ratio to the process alone in the same round. Other hook folders are measured beside this
one; take that of an earlier version from its commit, and not from a checkout that moves on:

    git archive COMMIT syncscan/trace/hook | tar -x -C FOLDER

"not compiled" is a hook whose byte code
is of another version of Python and cannot be written; "trace over" is a process that a daemon starts when the
trace has ended.
"""

from __future__ import annotations

import compileall
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from syncscan.trace.launch import HOOK_FOLDER, OPTIONS_FILE

Environment = dict[str, str]


def processor_ms(environment: Environment) -> float:
    """Milliseconds that one process took, starting and ending it."""
    process = subprocess.Popen([sys.executable, "-c", "pass"], env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return (usage.ru_utime + usage.ru_stime) * 1e3


def variants(folder: Path, hooks: list[Path]) -> dict[str, Environment]:
    """The environments to measure, by name."""
    parts = folder / "parts"
    parts.mkdir()
    (parts / OPTIONS_FILE).write_text("detector\tauto\nwarmup\t0\nstep\t\n")
    alone = {
        name: value
        for name, value in os.environ.items()
        if name != "SYNCSCAN_TRACE" and not name.startswith("PYTHON")
    }
    found = {"alone": alone, "alone again": alone}
    for number, hook in enumerate(hooks):
        for state in ("compiled", "not compiled"):
            copy = folder / f"{number}-{state}"
            shutil.copytree(hook, copy, ignore=shutil.ignore_patterns("__pycache__"))
            traced = {**alone, "PYTHONPATH": str(copy), "SYNCSCAN_TRACE": str(parts)}
            if state == "compiled":
                compileall.compile_dir(copy, quiet=1)
                found[f"{hook}, trace over"] = {**traced, "SYNCSCAN_TRACE": str(folder / "gone")}
            else:
                traced["PYTHONDONTWRITEBYTECODE"] = "1"
            found[f"{hook}, {state}"] = traced
    return found


def main(rounds: int, hooks: list[Path]) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        environments = variants(Path(folder), hooks)
        times: dict[str, list[float]] = {name: [] for name in environments}
        for _ in range(rounds):
            for name in random.sample(list(environments), len(environments)):
                times[name].append(processor_ms(environments[name]))
    print(f"Python {sys.version.split()[0]}, {rounds} rounds")
    for name, figures in times.items():
        ratios = [figure / base for figure, base in zip(figures, times["alone"], strict=True)]
        print(f"{statistics.median(figures):7.2f} ms {statistics.median(ratios):6.2f} times  {name}")


if __name__ == "__main__":
    main(
        int(sys.argv[1]) if len(sys.argv) > 1 else 100,
        [HOOK_FOLDER, *(Path(argument).absolute() for argument in sys.argv[2:])],
    )

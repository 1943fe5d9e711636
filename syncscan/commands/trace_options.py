"""The options of ``syncscan trace``: what they are, which of them contradict each other, and those for the hook."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from syncscan.commands.parameters import Contradictions

TERMINAL = Path("/dev/tty")
DETECTORS = ("auto", "cupti", "debug-mode", "both")
KERNELS = ("auto", "zeros", "interpret")
# Optional work of the hook.
_FLAGS = ("backward_lines", "lines", "calls", "starved")


@dataclass(frozen=True, slots=True)
class TraceOptions:
    """The command line as given; seconds and limits are None where there are none."""

    command: tuple[str, ...]
    output: Path | None
    output_format: str
    step: str | None
    warmup: int
    detector: str | None
    simulate: bool
    kernels: str | None
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    backward_lines: bool
    lines: bool
    calls: bool
    facts: Path | None
    packages: tuple[str, ...]
    starved: bool
    live: bool
    start_after: float | None
    seconds: float | None
    max_syncs_per_step: float | None
    max_blocked_ms_per_step: float | None

    @property
    def counts_steps(self) -> bool:
        """Return whether something is asked that steps must be known for."""
        limits = (self.max_syncs_per_step, self.max_blocked_ms_per_step)
        return self.warmup > 0 or any(limit is not None for limit in limits)

    @property
    def names_a_function(self) -> bool:
        """Return whether the steps are named as they must be."""
        module, _, path = (self.step or "").partition(":")
        return all(part.isidentifier() for part in (*module.split("."), *path.split(".")))

    def for_hook(self) -> dict[str, str]:
        """Return the options of the hook."""
        values = {"detector": self.detector or "auto", "warmup": str(self.warmup), "step": self.step or ""}
        if self.kernels is not None:
            values["kernels"] = self.kernels
        flags = {name: "1" for name in _FLAGS if getattr(self, name)}
        return values | flags | ({"lines": "1"} if self.calls else {})


def _has_terminal() -> bool:
    try:
        TERMINAL.open("w").close()
    except OSError:
        return False
    return True


# Conditions that no run can meet, each with its message; the first that holds is reported.
CONTRADICTIONS: Contradictions[TraceOptions] = (
    (
        lambda o: not o.command or not o.command[0],
        "no command given; write `syncscan trace -- python serve.py`",
    ),
    (
        lambda o: o.step is None and o.counts_steps,
        "--warmup and the limits count steps: name them with --step PKG.MOD:CLASS.METHOD",
    ),
    (
        lambda o: o.step is not None and not o.names_a_function,
        "--step {0.step}: write PKG.MOD:FUNCTION or PKG.MOD:CLASS.METHOD",
    ),
    (
        lambda o: o.starved and (o.simulate or o.detector == "debug-mode"),
        "--starved needs CUPTI: leave --simulate and --detector debug-mode out",
    ),
    (
        lambda o: o.kernels is not None and not o.simulate,
        "--kernels chooses what the simulated GPU runs: write --simulate",
    ),
    (
        lambda o: o.simulate and o.detector is not None,
        "--simulate needs no detector; leave --detector out",
    ),
    (
        lambda o: o.simulate and o.max_blocked_ms_per_step is not None,
        "--simulate times nothing: write --max-syncs-per-step",
    ),
    (
        lambda o: o.packages and o.facts is None,
        "--package adds functions to the facts: name their file with --facts FACTS.json",
    ),
    (
        lambda o: o.live and not _has_terminal(),
        "--live draws on the terminal, and there is none; leave it out",
    ),
)

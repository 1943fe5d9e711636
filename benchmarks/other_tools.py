"""Other tools that read Python, as they are installed, and how each is run beside `syncscan check`.

Each gets the folder of a project, whose dependencies are not installed, and one process where it can be told so; none
may keep anything. What they find is not compared: they look for something else.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.robust.watched import Watched, watch

_LIMITS = (1200.0, 12 * 2**30)  # seconds of the processor, and bytes
# The reads of a tensor that can be told by their form: Semgrep has no rules of its own without its registry.
_RULES = """\
rules:
  - id: waits
    languages: [python]
    severity: WARNING
    message: may wait for the GPU
    pattern-either:
      - pattern: $X.item()
      - pattern: $X.tolist()
      - pattern: $X.cpu()
      - pattern: $X.numpy()
      - pattern: torch.cuda.synchronize(...)
"""

_COMMANDS: dict[str, tuple[str, ...]] = {
    "ruff": ("ruff", "check", "--isolated", "--no-cache", "--exit-zero", "--quiet", "."),
    "Semgrep": (
        "semgrep", "scan", "--config={rules}", "--metrics=off", "--disable-version-check", "--quiet", "--jobs=1",
        "--no-git-ignore", "--max-target-bytes=0", "--timeout=0", ".",
    ),
    "mypy": (
        "mypy", "--cache-dir=/dev/null", "--ignore-missing-imports", "--namespace-packages",
        "--explicit-package-bases", "--no-error-summary", ".",
    ),
    "pyrefly": ("pyrefly", "check", "--threads=1", "--summary=none", "."),
    "TorchFix": ("torchfix", "--select=ALL", "."),
    "Fixit": ("fixit", "--quiet", "lint", "."),
}  # fmt: skip


def runs(tools: Path, folder: Path) -> Iterator[tuple[str, Watched]]:
    """Each tool that stands in the folder ``tools`` of programs, run on a project."""
    with tempfile.TemporaryDirectory() as scratch:
        rules = Path(scratch, "rules.yml")
        rules.write_text(_RULES, encoding="utf-8")
        for name, (program, *arguments) in _COMMANDS.items():
            if (tools / program).exists():
                command = ["env", f"--chdir={folder}", f"PATH={tools}:/usr/bin:/bin", str(tools / program)]
                command += [argument.format(rules=rules) for argument in arguments]
                yield name, watch(command, 0, *_LIMITS)

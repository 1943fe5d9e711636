"""What the server asks for findings. An engine may keep what it knows between two questions; this one does not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from syncscan.check.baseline import read_baseline
from syncscan.check.discover import load_project
from syncscan.check.files import shown
from syncscan.check.session import check
from syncscan.config import find_config
from syncscan.model import Finding

Progress = Callable[[str, int, int], None]


class Engine(Protocol):
    """Knows the findings of a file, with what editors hold in place of what is on the disk."""

    def findings(self, path: Path, open_files: Mapping[Path, bytes], progress: Progress) -> Sequence[Finding]:
        """The findings in one file, in order; SyncscanError where there can be none, such as for a wrong setting."""


class ColdEngine:
    """Reads the project anew for each question."""

    def findings(self, path: Path, open_files: Mapping[Path, bytes], progress: Progress) -> Sequence[Finding]:
        """The findings in one file, with the settings that apply to it."""
        config = find_config(path.parent)
        project = load_project([path], config, open_files)
        baseline = read_baseline(config.baseline) if config.baseline else None
        outcome = check(project, config, progress, 1, baseline)
        return [finding for finding in outcome.findings if finding.path == shown(path)]

"""Programs as text, checked without a file."""

from __future__ import annotations

from pathlib import Path

from syncscan.check.engine import check_sources
from syncscan.check.files import Source
from syncscan.check.result import CheckResult
from syncscan.model import Conventions


def check_texts(*texts: str, **named: str) -> CheckResult:
    """Check a project of modules called a, b and so on, and of those that are named."""
    modules = dict(zip("abcdefgh", texts, strict=False)) | named
    sources = [Source(Path(f"{n}.py"), f"{n}.py", n, t) for n, t in modules.items()]
    return check_sources(sources, None, Conventions(), lambda *_: None)

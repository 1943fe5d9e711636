"""Where the analysis stays silent, and where it does not, on the smallest programs that once misled it.

Every line of a program that has to be reported ends in ``# expect: CODE``; no other line may be.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from syncscan.check.engine import check_sources
from syncscan.check.files import Source
from syncscan.config import DEFAULT_CONFIDENCE, Conventions


def check_marks(program: str) -> None:
    """Compare the findings in a program with the marks in it."""
    text = textwrap.dedent(program)
    marks = [
        (number, code)
        for number, line in enumerate(text.splitlines(), 1)
        for code in re.findall(r"# expect: (\w+)", line)
    ]
    source = Source(Path("program.py"), "program.py", "program", text)
    result = check_sources([source], None, Conventions(), lambda *_: None)
    findings = [finding for finding in result.findings if finding.confidence >= DEFAULT_CONFIDENCE]
    assert [(finding.line, finding.code) for finding in findings] == marks


def test_a_lambda_that_may_be_another_function_is_evaluated() -> None:
    check_marks(
        """
        import torch

        def double(t):
            return t * 2

        def run(fast: bool):
            apply = double if fast else (lambda t: t.sum())
            apply(torch.ones(4, device="cuda"))
            return torch.ones(4, device="cuda").sum().item()  # expect: SYN101
        """
    )

"""Files that need not be read for a check after an edit, and are read for the reasons of its findings."""

from __future__ import annotations

from tests.check.changing import source
from tests.check.test_state import cold, followed


def test_reasons_lead_into_files_not_read_before_whose_parameters_have_defaults() -> None:
    box = """
import torch

class Box:
    def fill(self, n=None):
        t = None
        if n:
            t = torch.zeros(3, device="cuda")
        self.t = t
"""
    use = "from box import Box\n\ndef use(box: Box):\n    return box.t.item()\n"
    sources = {"box": source("box", box), "use": source("use", use)}
    _, state = cold(sources)
    sources["use"] = source("use", use.replace("return", "print(box)\n    return"))
    result, evaluated = followed(state, sources)
    expected, _ = cold(sources)
    assert [each.line for each in expected.findings[0].evidence] == [9, 8]
    assert result == expected
    assert len(evaluated) == 1

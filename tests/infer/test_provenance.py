"""The search for evidence: as long as the code that it goes through, not as the sequences of calls there."""

from __future__ import annotations

from pathlib import Path

from syncscan.check.engine import check_sources
from syncscan.check.files import Source
from syncscan.check.infer.solve.ways import Ways
from syncscan.model import Conventions, Finding

LAYERS = 7


def findings(text: str) -> list[Finding]:
    source = Source(Path("a.py"), "a.py", "a", text)
    return check_sources([source], None, Conventions(), lambda *_: None, 1).findings


def layered(width: int) -> str:
    """Return a program with layers of functions: each function calls every function of the next layer."""
    lines = ["import torch"]
    for layer in range(LAYERS):
        following = (
            [f"f{layer + 1}_{other}(x)" for other in range(width)] if layer + 1 < LAYERS else ["x + 1"]
        )
        for number in range(width):
            lines.append(f"def f{layer}_{number}(x, n):")
            lines += [
                f"    if n == {each}: return {call.replace('(x)', '(x, n)')}"
                for each, call in enumerate(following)
            ]
    return "\n".join([*lines, 'print(f0_0(torch.zeros(3, device="cuda"), 0).tolist())\n'])


def test_a_way_through_many_sequences_of_calls_is_as_long_as_the_calls(monkeypatch) -> None:
    visited = []
    in_turn = Ways.in_turn

    def counted(ways: Ways):
        for each in in_turn(ways):
            visited[-1] += 1
            yield each

    monkeypatch.setattr(Ways, "in_turn", counted)
    for width in (2, 4):
        visited.append(0)
        (found,) = findings(layered(width))
        assert "device" in found.evidence[-1].text or "places" in found.evidence[-1].text
    few, many = visited
    assert few < many < 6 * few  # four times as many calls, and 128 times as many sequences


def test_a_second_call_takes_over_the_way_that_the_first_one_found() -> None:
    far = "\n".join(f"def far{n}(): return far{n + 1}() + 1" for n in range(20))
    text = f"""
import torch
def pick(rows): return rows[0]
def elsewhere(): return pick(torch.empty(3, device="cuda"))
{far}
def far20(): return torch.zeros(3, device="cuda")
def of_any(n):
    if n: return pick(far0())
    return later()
def later(): return later_still()
def later_still(): return pick(torch.ones(3, device="cuda"))  # is nearer
print(of_any(1).item())
"""
    (evidence,) = [each.evidence for each in findings(text) if "item" in each.expression]
    assert text.splitlines()[evidence[-1].line - 1].endswith("# is nearer")


def test_a_value_that_changes_itself_has_the_evidence_of_what_changes_it() -> None:
    text = """
import torch
class Clipping:
    def __init__(self, bound: float) -> None:
        self.bound = bound
        self.factor = torch.ones((), device="cuda")
    def update(self) -> bool:
        self.bound *= self.factor
        return bool(self.bound > 2)
"""
    (found,) = findings(text)
    assert [each.line for each in found.evidence] == [6]

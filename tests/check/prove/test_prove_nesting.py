"""A proof follows what is nested deeply: functions that fill the stack together, and loops in loops, in bounded time."""

from __future__ import annotations

import pytest

from syncscan.check.prove.answer import Group
from syncscan.check.prove.frame import WalkFrame
from syncscan.check.prove.ran import RunSeen
from tests.check.prove.proving import proved


def loops(levels: int, innermost: str) -> str:
    """Return a function of nested loops. Each loop changes a name, which the loop around it resets."""
    lines = ["def step(x: torch.Tensor, rows: list[int]) -> None:", "    last = 0"]
    for level in range(levels):
        lines += [f"{'    ' * (level + 1)}v{level} = 0", f"{'    ' * (level + 1)}for _ in rows:"]
    lines.append(f"{'    ' * (levels + 1)}{innermost}")
    lines += [f"{'    ' * (level + 2)}v{level} = v{level} + 1" for level in reversed(range(levels))]
    return "\n".join(lines)


def test_deep_functions_that_call_one_another_are_followed() -> None:
    calls = (f"def f{n}(x):\n    return {'not ' * 900}f{n + 1}(x)\n" for n in range(30))
    program = "".join(calls) + "def f30(x):\n    x.item()\n    return True\n"
    certificate = proved(program, entry="f0")
    assert certificate.functions == 31
    assert [each.finding.expression for each in certificate.obstacles if each.group is Group.UNKNOWN] == []
    assert [each.finding.line for each in certificate.obstacles] == [63]


@pytest.mark.parametrize("run", [None, RunSeen({"program.py": {2, 3}}, {}, {}, {("program.py", 2): set()})])
def test_a_function_that_nests_too_deeply_is_named_as_such(run: RunSeen | None) -> None:
    program = f"def step(x):\n    return x{'.view(1)' * 3000}\n"
    (found,) = proved(program, run=run).obstacles
    assert "the proof cannot follow this function: it is nested too deeply" in found.finding.message


def test_loops_in_loops_are_walked_a_bounded_number_of_times(monkeypatch: pytest.MonkeyPatch) -> None:
    walked = 0
    plain = WalkFrame.loop

    def counted(*arguments: object) -> bool:
        nonlocal walked
        walked += 1
        return plain(*arguments)

    monkeypatch.setattr(WalkFrame, "loop", counted)
    assert proved(loops(14, "pass")).is_proved
    assert walked < 2000


@pytest.mark.parametrize("levels", [2, 14])
def test_what_the_innermost_loop_carries_is_known_at_any_depth(levels: int) -> None:
    found = proved(loops(levels, "print(last); last = x")).obstacles
    assert [each.finding.expression for each in found] == ["print(last)"]

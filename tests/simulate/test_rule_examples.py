"""The examples of the rules under simulation: the bad ones wait at their marks, the good and fixed never."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from syncscan.rule import rule_book  # noqa: E402
from syncscan.simulate.context import simulated_cuda  # noqa: E402

PROGRAMS = {
    f"{code}-{number}-{kind}": program
    for code, rule in rule_book().items()
    for number, example in enumerate(rule.examples)
    for kind in ("bad", "fixed", "good")
    if (program := getattr(example, kind))
}

# The rules about calls of which the table does not say that they wait, and so neither does the simulation; and
# those about waits that are missing.
ASKING = [f"# expect: {code}" for code, rule in rule_book().items() if rule.asks or not rule.is_wait]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PROGRAMS)
def test_an_example_waits_at_its_marks(name: str) -> None:
    lines = PROGRAMS[name].splitlines()
    marked = {number for number, line in enumerate(lines, 1) if "# expect: SYN" in line}
    callers = {number for number in marked if "# expect: SYN501" in lines[number - 1]}
    open_ = {number for number in marked if any(code in lines[number - 1] for code in ASKING)}
    with simulated_cuda() as seen:
        exec(compile(PROGRAMS[name], f"<{name}>", "exec"), {"__name__": "example"})
    waited = {sync.line for sync in seen if sync.path == f"<{name}>"}
    assert waited <= marked - callers
    assert waited | open_ == marked or callers  # a caller's callee waits, and not every one is called

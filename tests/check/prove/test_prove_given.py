"""What is proved of a run: lines, calls and values that were seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from syncscan.check.files import Source
from syncscan.check.prove.answer import Group
from syncscan.check.prove.ran import Code, RunSeen, loaded
from tests.check.prove.proving import proved, proved_files


def test_given_a_run_what_never_ran_sets_nothing_and_narrows_nothing() -> None:
    program = """
        class Runner:
            def __init__(self) -> None:
                self.count = 1
            def load(self, x: torch.Tensor) -> None:
                self.count = x.sum()
            def step(self, x: torch.Tensor, n: int) -> None:
                if n:
                    last = x
                else:
                    last = 3
                if self.count > last:
                    return
    """
    whole = {"program.py": {*range(1, 15)}}
    assert [
        each.finding.line for each in proved(program, entry="Runner.step", run=RunSeen(whole)).obstacles
    ] == [13]
    ran = {"program.py": whole["program.py"] - {7, 10, 14}}
    assert proved(program, entry="Runner.step", run=RunSeen(ran)).is_proved
    for missing in ({7}, {10}):
        run = RunSeen({"program.py": whole["program.py"] - missing})
        assert not proved(program, entry="Runner.step", run=run).is_proved


CALLING = """
def work(x: torch.Tensor) -> None:
    x.item()
def idle(x: torch.Tensor) -> None:
    pass
def step(x: torch.Tensor, processors, text) -> None:
    processors["a"](x)
    text.startswith("b")
"""
LINES = {"program.py": {*range(1, 10)}}
STEP = ("program.py", 7)


@pytest.mark.parametrize(
    ("callees", "calls", "found"),
    [
        ({}, {}, [(Group.UNKNOWN, 8), (Group.UNKNOWN, 9)]),
        (  # the run tells what was called
            {(8, 22): {"program.idle"}, (9, 24): {"builtins.str.startswith"}},
            {STEP: {("program.py", 5)}},
            [],
        ),
        (  # and what that ran
            {(4, 12): {"torch.Tensor.item"}, (8, 22): {"program.work"}, (9, 24): {"builtins.str.startswith"}},
            {STEP: {("elsewhere.py", 1)}, ("elsewhere.py", 1): {("program.py", 3)}},
            [(Group.MAY, 4)],
        ),
        (  # a call that never ran, and one of which not all was recorded
            {(9, 24): {"builtins.str.startswith", "*"}},
            {STEP: set()},
            [(Group.UNKNOWN, 9)],
        ),
        (  # what runs in another thread, or was called too often, is found as without a record
            {(4, 12): {"torch.Tensor.item"}, (8, 22): {"program.work"}, (9, 24): {"builtins.str.startswith"}},
            {("*", 0): {("program.py", 3)}},
            [(Group.MAY, 4)],
        ),
        (
            {(8, 22): {"other.run"}, (9, 24): {"torch._C.TensorBase.nonzero"}},
            {STEP: set()},
            [(Group.MAY, 9), (Group.UNKNOWN, 8)],
        ),
    ],
)
def test_given_a_run_calls_are_those_that_it_made(
    callees: dict[tuple[int, int], set[str]], calls: dict[Code, set[Code]], found: list[tuple[Group, int]]
) -> None:
    run = RunSeen(LINES, {}, {"program.py": callees} if callees else {}, calls)
    obstacles = proved(CALLING, run=run).obstacles
    assert [(each.group, each.finding.line) for each in obstacles] == found


IN_PLACE_OF_A_DICT = """
class Cache:
    def offset(self) -> int:
        return 3
def step(x: torch.Tensor, n: int) -> int:
    cache = {} if n == 7 else Cache()
    return cache.offset()
"""


def test_given_a_run_a_method_that_no_container_has_is_the_one_that_ran() -> None:
    lines, step = {"program.py": {*range(1, 9)}}, ("program.py", 6)
    callees = {(8, 25): {"program.Cache.offset"}}
    run = RunSeen(lines, {}, {"program.py": callees}, {step: {("program.py", 4)}})
    assert not proved(IN_PLACE_OF_A_DICT).is_proved
    assert proved(IN_PLACE_OF_A_DICT, run=run).is_proved


HANDED_ON = """
def step(functions, x: torch.Tensor, rows: list[int]) -> None:
    for each in map(functions["a"], rows):
        pass
    x.item()
"""


def test_given_a_run_the_record_of_a_call_does_not_name_what_its_callee_calls() -> None:
    callees = {"program.py": {(4, 41): {"builtins.map"}, (6, 12): {"torch.Tensor.item"}}}
    run = RunSeen({"program.py": {*range(1, 7)}}, {}, callees, {("program.py", 3): set()})
    obstacles = proved(HANDED_ON, run=run).obstacles
    assert [(each.group, each.finding.line) for each in obstacles] == [(Group.MAY, 6), (Group.UNKNOWN, 4)]


PASSING = """
def scaled(x, factor, bias=0):
    return x * factor if factor > bias else x
def step(x: torch.Tensor, n: int) -> None:
    scaled(x, n)
    scaled(x,
           factor=2)
def other(x: torch.Tensor) -> None:
    scaled(x, x)
"""
SCALED, OTHER = ("program.py", 3), ("program.py", 9)
CALLS = {("program.py", 5): {SCALED}, OTHER: {SCALED}}


@pytest.mark.parametrize(
    ("callers", "is_proved"),
    [
        ({(("program.py", 5), 6), (("program.py", 5), 7)}, True),
        ({(("program.py", 5), 6), (OTHER, 10)}, False),  # another caller passes a tensor
        ({(("program.py", 5), 6), (("elsewhere.py", 1), 3)}, False),  # a caller that is not in the project
        ({(("program.py", 5), 6), (("program.py", 5), 5)}, False),  # a line at which no call is known
        ({(("program.py", 5), 6), (("*", 0), 0)}, False),  # the record is not whole
        (set(), False),
    ],
)
def test_given_a_run_parameters_are_what_its_callers_passed(
    callers: set[tuple[Code, int]], is_proved: bool
) -> None:
    calls = {**CALLS, **({("*", 0): {SCALED}} if (("*", 0), 0) in callers else {})}
    run = RunSeen({"program.py": {*range(1, 11)}}, {}, {}, calls, {SCALED: callers})
    assert proved(PASSING, run=run).is_proved is is_proved


def test_given_a_run_only_files_that_ran_are_read() -> None:
    names = ["app", "app.idle", "app.models", "app.models.llama", "app.steps", "other"]
    sources = [Source(Path(f"{name}.py"), f"{name}.py", name, "") for name in names]
    found = loaded(sources, RunSeen({"app.models.llama.py": {1}}), "app.steps:step")
    assert [each.module for each in found] == ["app", "app.models", "app.models.llama", "app.steps"]


DYNAMIC = """
class Pool:
    @property
    def size(self) -> int:
        return 1
    def step(self, pool, name: str) -> object:
        return getattr(pool, name)
"""


def test_given_a_run_an_attribute_of_any_name_is_what_ran() -> None:
    calls = {("program.py", 7): {("elsewhere.py", 1)}}
    assert not proved(DYNAMIC, entry="Pool.step").is_proved
    run = RunSeen({"program.py": {*range(1, 9)}}, {}, {}, calls)
    assert proved(DYNAMIC, entry="Pool.step", run=run).is_proved


def test_given_a_run_only_lines_that_ran_count() -> None:
    program = """
        def rare(x: torch.Tensor) -> None:
            x.tolist()
        def step(x: torch.Tensor, n: int) -> None:
            if n:
                rare(x)
            x.item()
            x.nonzero()
    """
    ran = {"program.py": {5, 6, 8, 9}}
    certificate = proved(program, run=RunSeen(ran, {"program.py": {9}}))
    found = [(each.group, each.finding.line) for each in certificate.obstacles]
    assert found == [(Group.SYNCHRONIZES, 9), (Group.MAY, 8)]


PROPERTIES = """
class Base:
    @property
    def size(self) -> int:
        return 1
class Other(Base):
    @property
    def size(self):
        return torch.ones(1, device="cuda")
def step(base: Base) -> int:
    return 1 if base.size else 2
"""


@pytest.mark.parametrize(("never", "is_proved"), [(set(), False), ({10}, True), ({6, 10}, False)])
def test_given_a_run_a_property_that_never_ran_gives_nothing(never: set[int], is_proved: bool) -> None:
    run = RunSeen({"program.py": {*range(1, 13)} - never})
    assert proved(PROPERTIES, run=run).is_proved is is_proved


ASSUMED = """
class Settings:
    def __init__(self, **options) -> None:
        self.size = options["size"]
def step(settings: Settings) -> int:
    return 1 if settings.size else 2
"""


@pytest.mark.parametrize(("line", "groups"), [(1, []), (7, [Group.SYNCHRONIZES])])
def test_given_a_run_an_assumption_that_it_contradicts_is_named(line: int, groups: list[Group]) -> None:
    run = RunSeen({"program.py": {*range(1, 8)}}, {"program.py": {line}})
    found = proved(ASSUMED, "program:Settings.*.is_plain = True", run=run).obstacles
    assert [each.group for each in found] == groups
    assert all("which an assumption excludes" in each.finding.message for each in found)


NAMED_SHAPE = """
class Grid:
    def reshape(self, rows) -> None:
        self.shape = rows
def step(x, n: int) -> int:
    return 1 if x.shape[0] == n else 2
"""


@pytest.mark.parametrize(("never", "is_proved"), [(set(), False), ({5}, True)])
def test_given_a_run_an_attribute_that_no_code_of_it_sets_is_that_of_a_tensor(
    never: set[int], is_proved: bool
) -> None:
    run = RunSeen({"program.py": {*range(1, 9)} - never})
    assert proved(NAMED_SHAPE, run=run).is_proved is is_proved


SUPER = """
class Registry(dict):
    def get(self, key):
        return super().get(key)
def step(registry: Registry) -> None:
    registry.get("a")
"""


def test_given_a_run_a_method_of_a_base_of_python_is_the_one_that_ran() -> None:
    callees = {(5, 31): {"builtins.dict.get"}}
    run = RunSeen(
        {"program.py": {*range(1, 9)}}, {}, {"program.py": callees}, {("program.py", 6): {("program.py", 4)}}
    )
    assert [each.group for each in proved(SUPER).obstacles] == [Group.UNKNOWN]
    assert proved(SUPER, run=run).is_proved


IMPORTED = """
import sys
if sys.platform == "other":
    from other import run
else:
    from kernels import run
def step(x: torch.Tensor) -> torch.Tensor:
    return run(x)
"""
KERNELS = """
def run(x: torch.Tensor) -> torch.Tensor:
    return x * 2
"""


@pytest.mark.parametrize(
    ("ran", "is_proved"),
    [
        ({2, 3, 4, 6, 7, 8, 9}, True),
        ({2, 3, 4, 5, 6, 7, 8, 9}, False),
        ({8, 9}, False),  # the program had imported the module before the trace began
    ],
)
def test_given_a_run_a_name_is_what_its_imports_bound(ran: set[int], *, is_proved: bool) -> None:
    run = RunSeen({"program.py": ran, "kernels.py": {1, 2, 3, 4}})
    files = {"program": IMPORTED, "kernels": KERNELS}
    assert proved_files(files, entry="program:step", run=run).is_proved is is_proved


def test_given_a_run_a_star_or_a_dynamic_name_may_bind_what_no_import_did() -> None:
    program = """
import sys
{}
if sys.platform == "a":
    from other import run
elif sys.platform == "b":
    from another import run
def step(x: torch.Tensor) -> torch.Tensor:
    return run(x)
"""
    run = RunSeen({"program.py": {2, 3, 4, 5, 7, 9, 10}, "kernels.py": {1, 2, 3, 4}})
    kernels = KERNELS.replace("return x * 2", "return x * x.item()")
    for line in ("from kernels import *", 'globals()["run"] = len'):
        files = {"program": program.format(line), "kernels": kernels}
        assert not proved_files(files, entry="program:step", run=run).is_proved


UNREAD = """
class Block(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1
def trim(model: Block, hooks: dict) -> None:
    model.register_forward_hook(
        hooks["trim"])
def pack(x: torch.Tensor) -> torch.Tensor:
    return x.to_sparse()
def step(block: Block, x: torch.Tensor) -> torch.Tensor:
    return block(x)
"""


@pytest.mark.parametrize(("ran", "lines"), [((), []), ((7,), [12]), ((10,), [5])])
def test_given_a_run_only_hooks_and_layouts_that_it_made_count(
    ran: tuple[int, ...], lines: list[int]
) -> None:
    run = RunSeen({"program.py": {1, 2, 3, 4, 5, 6, 9, 11, 12, *ran}})
    assert [each.finding.line for each in proved(UNREAD, run=run).obstacles] == lines
    assert {each.finding.line for each in proved(UNREAD).obstacles} == {5, 12}


def test_given_a_run_streams_and_events_have_the_names_of_the_table() -> None:
    program = """
def step(device: torch.device, lanes) -> None:
    lanes.now.wait_stream(lanes.other)
    lanes.make().record()
    lanes.now.synchronize()
"""
    callees = {
        (4, 38): {"torch.cuda.streams.Stream.wait_stream"},
        (5, 16): {"torch.cuda.streams.Event"},
        (5, 25): {"torch.cuda.streams.Event.record"},
        (6, 27): {"torch.cuda.streams.Stream.synchronize"},
    }
    run = RunSeen({"program.py": {*range(1, 7)}}, {}, {"program.py": callees}, {("program.py", 3): set()})
    assert [each.finding.line for each in proved(program, run=run).obstacles] == [6]


CHECKED = """
def step(check: bool) -> None:
    x = torch.ones(3, device="cuda")
    if check and torch.any(torch.isnan(x)):
        x.add_(1)
"""


@pytest.mark.parametrize(("ran", "lines"), [((), []), (((5, 42),), [5])])
def test_given_a_run_a_finding_of_a_call_that_never_ran_is_no_obstacle(
    ran: tuple[tuple[int, int], ...], lines: list[int]
) -> None:
    callees = {end: {"torch.any"} for end in (*ran, (4, 36), (6, 17))}
    run = RunSeen({"program.py": {*range(1, 7)}}, {}, {"program.py": callees}, {("program.py", 3): set()})
    assert [each.finding.line for each in proved(CHECKED, run=run).obstacles] == lines

"""Results, attributes and parameters that the code computes, within the types that annotations promise."""

from __future__ import annotations

import textwrap

import pytest

from syncscan.check.prove.ran import Code, RunSeen
from tests.check.prove.proving import proved

ATTRIBUTE = """
class Runner:
    def __init__(self, n: int) -> None:
        self.mask: torch.Tensor | None = None
        self.start(n)
    def start(self, n: int) -> None:
        self.mask = torch.zeros(n, device="PLACE")
def step(runner: Runner, i: int) -> None:
    assert runner.mask is not None
    runner.mask[i] = True
"""


@pytest.mark.parametrize(("place", "is_proved"), [("cpu", True), ("cuda", False)])
def test_a_tensor_of_a_declared_attribute_is_where_the_code_makes_it(place: str, *, is_proved: bool) -> None:
    assert proved(ATTRIBUTE.replace("PLACE", place)).is_proved is is_proved


RESULT = """
import sys
class Platform:
    def waits(self) -> bool:
        BODY
MORE
def step(x, platform: Platform) -> None:
    if platform.waits():
        x.item()
"""
BELOW = """
class Other(Platform):
    def waits(self) -> bool:
        return True
"""


@pytest.mark.parametrize(
    ("body", "more", "is_proved"),
    [
        ("return False", "", True),
        ("return len(sys.argv) > 1", "", False),
        ("return False", BELOW, False),
        ("raise NotImplementedError", "", False),
        ("...", "", False),
        ("return self.waits()", "", False),
    ],
)
def test_a_result_that_is_promised_is_the_constant_that_every_method_returns(
    body: str, more: str, *, is_proved: bool
) -> None:
    assert proved(RESULT.replace("BODY", body).replace("MORE", more)).is_proved is is_proved


def test_a_result_of_a_function_with_several_forms_is_not_that_of_one() -> None:
    program = """
        import functools
        @functools.singledispatch
        def waits(x) -> bool:
            return False
        @waits.register
        def _(x: torch.Tensor) -> bool:
            return True
        def step(x) -> None:
            if waits(x):
                x.item()
    """
    assert not proved(program).is_proved


PAIR = """
def pair(n: int) -> tuple[torch.Tensor, int]:
    return torch.zeros(n, device="PLACE"), n
def step(n: int) -> float:
    found, n = pair(n)
    return float(found[n])
"""


@pytest.mark.parametrize(("place", "is_proved"), [("cpu", True), ("cuda", False)])
def test_a_tensor_in_a_promised_tuple_is_where_the_code_makes_it(place: str, *, is_proved: bool) -> None:
    assert proved(PAIR.replace("PLACE", place)).is_proved is is_proved


PARTS = """
def step(x: torch.Tensor, options) -> None:
    found = options is not None and options.find("a")
    if found:
        x.add_(1)
    last = options.last() if options is not None else 3
    if last and options is not None and options.next():
        x.add_(1)
"""
STEP: Code = ("program.py", 3)
FIND, LAST, NEXT = (4, 53), (7, 25), (8, 54)


@pytest.mark.parametrize(("ran", "lines"), [((), []), ((FIND,), [4, 5]), ((LAST,), [7, 8]), ((NEXT,), [8])])
def test_given_a_run_a_part_of_a_test_whose_call_never_ran_gives_nothing(
    ran: tuple[tuple[int, int], ...], lines: list[int]
) -> None:
    callees = {end: {"other.Options.find"} for end in (*ran, (6, 17), (9, 17))}
    run = RunSeen({"program.py": {*range(1, 10)}}, {}, {"program.py": callees}, {STEP: set()})
    assert sorted({each.finding.line for each in proved(PARTS, run=run).obstacles}) == lines


PASSED = """
def is_pinned() -> bool:
    return True
PINNED = is_pinned()
class Buffer:
    BODY
    def __init__(self, *size: int, name: str, pinned: bool = PINNED) -> None:
        self.cpu = torch.zeros(*size, pin_memory=pinned)
    def upload(self, device: torch.device) -> torch.Tensor:
        return self.cpu.to(device, non_blocking=True)
def step(sizes: list[int], device: torch.device) -> None:
    Buffer(*sizes, name="a").upload(device)
def other(options: dict) -> None:
    CALL
"""
MAKE, STEP_OF_BUFFER, OTHER = ("program.py", 8), ("program.py", 12), ("program.py", 14)


@pytest.mark.parametrize(
    ("call", "body", "is_proved"),
    [
        ("Buffer(3, name='b', pinned=True)", "pass", True),
        ("Buffer(3, name='b', pinned=False)", "pass", False),
        ("Buffer(3, name='b', **options)", "pass", False),
        ("Buffer(3, name='b')", "PINNED = False", False),
    ],
)
def test_given_a_run_a_flag_is_what_its_callers_passed_and_the_default(
    call: str, body: str, *, is_proved: bool
) -> None:
    program = PASSED.replace("CALL", call).replace("BODY", body)
    calls = {STEP_OF_BUFFER: {MAKE, ("program.py", 10)}, OTHER: {MAKE}}
    callers = {MAKE: {(STEP_OF_BUFFER, 13), (OTHER, 15)}}
    run = RunSeen({"program.py": {*range(1, 16)}}, {}, {}, calls, callers)
    assert proved(program, run=run).is_proved is is_proved


@pytest.mark.parametrize(
    ("items", "is_proved"), [("names, [x]", True), ("names, x", False), ("*names, box", False)]
)
def test_the_truth_of_a_list_of_tensors_reads_none(items: str, *, is_proved: bool) -> None:
    program = f"""
        class Box:
            def __bool__(self) -> bool:
                return bool(torch.ones(1, device="cuda").item())
        def step(x, box: Box, names: list[str]) -> bool:
            return any(({items}))
    """
    assert proved(program).is_proved is is_proved


CACHED = """
import functools
from typing import Callable, TypeVar
F = TypeVar("F", bound=Callable)
def once(function: GIVEN) -> RESULT:
    results = {}
    @functools.wraps(function)
    def wrapper(*args):
        if args not in results:
            results[args] = function(*args)
        return results[args]
    return wrapper
@once
def is_old(n: int) -> bool:
    return n > 3
def step(x: torch.Tensor, n: int) -> torch.Tensor:
    return x + 1 if is_old(n) else x
"""


@pytest.mark.parametrize(
    ("given", "result", "lines"),
    [("F", "F", []), ("Callable", "Callable", [18]), ("Callable", "F", [18]), ("F", "Callable", [18])],
)
def test_a_decorator_that_promises_the_type_that_it_is_given_keeps_what_a_result_promises(
    given: str, result: str, lines: list[int]
) -> None:
    obstacles = proved(CACHED.replace("GIVEN", given).replace("RESULT", result)).obstacles
    assert [each.finding.line for each in obstacles if each.finding.line > 16] == lines


ONE_OF_TWO = """
class Mode:
    def is_host(self):
        return self.flags[0]
    def is_graph(self) -> bool:
        return len(__name__) > 3
def step(x: torch.Tensor, mode: Mode, place: str) -> torch.Tensor:
    check = mode.is_host if place == "cpu" else mode.is_graph
    return x + 1 if check() else x
"""


@pytest.mark.parametrize(("never", "is_proved"), [({5}, True), ({7}, False), (set(), False)])
def test_given_a_run_a_method_that_never_ran_is_not_what_a_call_reached(
    never: set[int], *, is_proved: bool
) -> None:
    run = RunSeen({"program.py": {*range(1, 11)} - never})
    assert proved(ONE_OF_TWO, run=run).is_proved is is_proved


@pytest.mark.parametrize(
    ("given", "is_proved"), [("torch.cuda.get_device_capability()", True), ("parts(x)", False)]
)
def test_numbers_that_torch_gives_in_a_list_compare_on_the_host(given: str, *, is_proved: bool) -> None:
    program = f"""
        def parts(x) -> list:
            return [each for each in x]
        def step(x) -> int:
            return 1 if {given}[0] >= 9 else 2
    """
    assert proved(program).is_proved is is_proved


OTHER_RESULTS = {
    "a coroutine is true": """
        class P:
            async def waits(self) -> bool:
                return False
    """,
    "another definition under a condition": """
        class P:
            if len(__name__) > 3:
                def waits(self) -> bool:
                    return True
            else:
                def waits(self) -> bool:
                    return False
    """,
    "an attribute of a class below": """
        class P:
            def waits(self) -> bool:
                return False
        class Q(P):
            waits: "Callable" = lambda self: True
    """,
    "an attribute that is set": """
        class P:
            def waits(self) -> bool:
                return False
        def patch(p: P) -> None:
            p.waits = lambda: True
    """,
    "a variable that is set from outside": """
        import program
        COUNT = 0
        def patch() -> None:
            program.COUNT = 3
        class P:
            def waits(self) -> bool:
                return COUNT
    """,
    "a variable that is set by name": """
        import program
        COUNT = 0
        setattr(program, "COUNT", 3)
        class P:
            def waits(self) -> bool:
                return COUNT
    """,
}


@pytest.mark.parametrize("name", OTHER_RESULTS)
def test_a_constant_is_the_result_of_no_function_that_may_be_another(name: str) -> None:
    step = """
        def step(x, p: P) -> None:
            if p.waits():
                x.item()
    """
    assert not proved(textwrap.dedent(OTHER_RESULTS[name]) + textwrap.dedent(step)).is_proved


def test_a_declared_class_is_not_narrowed_to_the_one_that_the_code_seems_to_make() -> None:
    program = """
        def swapped(cls):
            return Reading
        class A:
            def go(self, x):
                return x
        class Reading(A):
            def go(self, x):
                return x.item()
        @swapped
        class B(A):
            def go(self, x):
                return x + 1
        def make() -> A:
            return B()
        def step(x) -> None:
            make().go(x)
    """
    assert not proved(program).is_proved


REPLACED = """
def replaced(function):
    def wrapper(x):
        return x.item()
    return wrapper
DECORATOR
def first(x):
    BODY
def second(x):
    return False
def step(x, flag: bool) -> None:
    chosen = first if flag else second
    if chosen(x):
        x.item()
"""


@pytest.mark.parametrize(
    ("decorator", "body", "is_proved"),
    [("", "return True", True), ("@replaced", "return True", False), ("", "yield x", False)],
)
def test_given_a_run_what_runs_in_the_place_of_a_body_counts(
    decorator: str, body: str, *, is_proved: bool
) -> None:
    program = REPLACED.replace("DECORATOR", decorator).replace("BODY", body)
    run = RunSeen({"program.py": {*range(1, 17)} - {9}})
    assert proved(program, run=run).is_proved is is_proved


INNER = """
def step(x, flag: bool, other) -> None:
    if flag and other.check(x.item(), other.fail()):
        pass
    found = other.make(x) if True else 0
    if found:
        pass
"""


def test_given_a_run_calls_inside_of_a_call_that_raised_count() -> None:
    record = {"program.py": {(4, 36): {"torch.Tensor.item"}, (4, 50): {"builtins.len"}}}
    run = RunSeen({"program.py": {*range(1, 9)}}, {}, record, {STEP: set()})
    assert {each.finding.line for each in proved(INNER, run=run).obstacles} == {4, 7}


HOOKED = """
class Block(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1
def load(model, other, hooks: dict) -> None:
    (
        model or other
    ).register_forward_hook(hooks["trim"])
def step(block: Block, x: torch.Tensor) -> torch.Tensor:
    return block(x)
"""


@pytest.mark.parametrize(
    ("ran", "is_proved"),
    [({1, 3, 4, 5, 6, 10, 11}, True), ({1, 3, 4, 5, 6, 8, 9, 10, 11}, False), ({5, 11}, False)],
)
def test_given_a_run_a_hook_counts_by_any_line_of_its_call(ran: set[int], *, is_proved: bool) -> None:
    assert proved(HOOKED, run=RunSeen({"program.py": ran})).is_proved is is_proved


def test_the_truth_of_an_object_that_is_a_tensor_reads_it() -> None:
    program = """
        class Mine(torch.Tensor):
            pass
        def step(mine: Mine) -> bool:
            return any([mine])
    """
    assert not proved(program).is_proved

"""What is proved, and under which assumptions."""

from __future__ import annotations

import pytest

from syncscan.check.prove.answer import Group
from syncscan.errors import ConfigError
from tests.check.prove.proving import proved

PROVED = {
    "arithmetic": """
        def step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return (x + y * 2).cumsum(0)
    """,
    "a-loop-over-numbers": """
        def step(x: torch.Tensor, n: int) -> torch.Tensor:
            for i in range(n):
                if i > 3 and n != 2:
                    x = x + i
            return x
    """,
    "lists-that-are-searched": """
        def step(x: torch.Tensor, counts: list[int]) -> torch.Tensor:
            flags = [not count for count in counts]
            return x if True in flags and flags.index(True) > 3 else x + 1
    """,
    "no-slice": """
        def step(x: torch.Tensor, index: int | slice | str) -> torch.Tensor:
            if isinstance(index, str):
                return x
            if isinstance(index, slice):
                return x + 1
            return x if index < 0 else x + 2
    """,
    "differences-of-sets": """
        def step(x: torch.Tensor, one: dict[str, int], other: dict) -> torch.Tensor:
            return x if set(one) - set(other.keys()) else x + 1
    """,
    "members-of-an-enumeration": """
        import enum
        class Mode(enum.Enum):
            FULL = 1
            NONE = 2
        class Other(str, enum.Enum):
            A = "a"
        def step(x: torch.Tensor, mode: Mode, other: Other) -> torch.Tensor:
            return x if mode == Mode.FULL or other in (Other.A,) else x + 1
    """,
    "values-of-the-standard-library": """
        import os, re, time, uuid
        def step(n: int) -> str:
            root = os.getenv("ROOT", os.path.join(os.path.expanduser("~"), "x"))
            if os.environ["HOME"] == root or uuid.uuid4().int & 7 > 3:
                return f"{root} {uuid.uuid4().hex} {re.match('a', root)} {max(1, os.cpu_count() or 1)}"
            return root.upper()
    """,
    "annotated-variables-of-a-module": """
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            FLAG: bool = False
        def __getattr__(name: str):
            return torch.ones(1)
        def step(x: torch.Tensor) -> torch.Tensor:
            return x if FLAG else x + len(__name__)
    """,
    "no-array": """
        import numpy as np
        def step(x: torch.Tensor | np.ndarray, out: torch.Tensor) -> int:
            if not isinstance(x, np.ndarray):
                return x.shape[0]
            return int(x[0])
    """,
    "variables-that-functions-set": """
        FLAG = False
        def enable() -> None:
            global FLAG
            FLAG = True
        def step(x: torch.Tensor) -> torch.Tensor:
            return x if FLAG else x + 1
    """,
    "an-item-that-grows": """
        def step(x: torch.Tensor, i: int, n: int) -> None:
            x[i] += n
    """,
    "keys-of-an-order": """
        def step(names: list[str], sizes: list[int]) -> list[str]:
            return sorted(names, key=lambda name: len(name))
    """,
    "host-tensors": """
        def step(n: int) -> int:
            mask = torch.zeros(n, dtype=torch.bool)
            if mask.any():
                return int(mask.sum())
            return 0
    """,
    "an-assertion": """
        def step(x: torch.Tensor) -> int:
            assert x.is_cpu
            return int(x.max())
    """,
    "a-test-of-the-place": """
        def step(x: torch.Tensor) -> int:
            if x.device.type != "cpu":
                raise ValueError("not on the host")
            return int(x.max())
    """,
    "no-tensor": """
        def step(x: torch.Tensor | int) -> int:
            if isinstance(x, torch.Tensor):
                return 0
            return int(x)
    """,
    "an-upload-from-pinned-memory": """
        def step(n: int) -> torch.Tensor:
            x = torch.zeros(n, pin_memory=True)
            return x.to("cuda", non_blocking=True)
    """,
    "an-attribute": """
        class Runner:
            def __init__(self, n: int) -> None:
                self.n = n
                self.graphs = {}
            def step(self, x: torch.Tensor) -> torch.Tensor:
                return x * self.n if self.n else x
        def step(runner: Runner, x: torch.Tensor) -> torch.Tensor:
            return runner.step(x)
    """,
    "records": """
        from dataclasses import dataclass
        from typing import NamedTuple
        @dataclass
        class Batch:
            lens: list[int]
            scale: float = 1.0
        class Pair(NamedTuple):
            a: torch.Tensor
            b: int
        def split(batch: Batch) -> Pair:
            return Pair(torch.zeros(len(batch.lens)), sum(batch.lens))
        def step(batch: Batch) -> torch.Tensor:
            a, b = split(batch)
            return a * b if b > max(batch.lens, default=0) else a
    """,
    "a-module": """
        class Layer(torch.nn.Module):
            def __init__(self, n: int) -> None:
                super().__init__()
                self.inner = torch.nn.Linear(n, n)
                self.n = n
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return self.inner(x) if self.n > 2 else x
        def step(layer: Layer, x: torch.Tensor) -> torch.Tensor:
            with torch.no_grad():
                return layer(x)
    """,
    "methods-above-and-below": """
        class Base:
            def scale(self) -> int:
                return 1
        class Below(Base):
            def scale(self) -> int:
                return super().scale() + 1
        def step(it: Base, x: torch.Tensor) -> torch.Tensor:
            return x * it.scale()
    """,
    "a-list-that-is-only-read": """
        def step(xs: list[int], x: torch.Tensor) -> torch.Tensor:
            pairs = [(i, n) for i, n in enumerate(xs) if n]
            for i, n in pairs:
                if i > n:
                    x = x + 1
            return x
    """,
    "a-dimension-that-is-known": """
        def step(x: torch.Tensor, n: int) -> torch.Tensor:
            return x[torch.arange(n, device="cuda")]
    """,
}  # fmt: skip


@pytest.mark.parametrize("program", PROVED.values(), ids=PROVED.keys())
def test_a_program_without_a_wait_is_proved(program: str) -> None:
    assert [each.finding.message for each in proved(program).obstacles] == []


ENGINE = """
class Engine:
    def __init__(self, checks, x: torch.Tensor, device: torch.device) -> None:
        self.checks = checks
        self.lens = x
        self.scale = torch.zeros(3, device=device)
    def step(self, x: torch.Tensor) -> torch.Tensor:
        if self.checks:
            return x[x.isnan()]
        return x * self.scale if int(self.lens.max()) else x
"""


def messages(*assumptions: str) -> list[int]:
    return sorted({each.finding.line for each in proved(ENGINE, *assumptions, entry="Engine.step").obstacles})


def test_an_assumption_prunes_the_branches_that_cannot_run() -> None:
    assert messages() == [9, 10, 11]
    assert messages("program:Engine.checks = False") == [11]
    assert messages("program:Engine.checks = True") == [10]


def test_an_assumption_says_where_a_tensor_is() -> None:
    assumed = ("program:Engine.checks = False", "program:Engine.lens.is_cpu = True")
    certificate = proved(ENGINE, *assumed, entry="Engine.step")
    assert certificate.is_proved
    assert set(assumed) < set(certificate.assumptions)


@pytest.mark.parametrize(
    ("assumption", "message"),
    [
        ("Engine.checks = False", "is no assumption"),
        ("program:Engine.checks", "is no assumption"),
        ("program:Engine.checks = run()", "is no constant"),
        ("other:Engine.checks = 1", "no module 'other'"),
        ("program:Motor.checks = 1", "program has no Motor.checks"),
        ("program:Engine.step.y.ndim = 1", "program has no Engine.step.y"),
    ],
)
def test_a_wrong_assumption_is_refused(assumption: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        messages(assumption)


def test_an_entry_point_that_is_not_there_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"did you mean 'Engine\.step'"):
        proved(ENGINE, entry="Engine.stp")


def test_a_method_is_found_in_the_class_above() -> None:
    program = """
        class Base:
            def run(self) -> int:
                return 1
        class Below(Base):
            pass
    """
    assert proved(program, entry="Below.run").is_proved


def test_the_chain_is_the_shortest() -> None:
    program = """
        def wait(x: torch.Tensor) -> None:
            x.item()
        def far(x: torch.Tensor) -> None:
            near(x)
        def near(x: torch.Tensor) -> None:
            wait(x)
        def step(x: torch.Tensor) -> None:
            far(x)
            near(x)
    """
    (obstacle,) = proved(program).obstacles
    assert obstacle.finding.call_chain == ("step", "near", "wait")


def test_groups_by_how_sure_they_are() -> None:
    program = """
        def step(x, name: str) -> None:
            torch.cuda.synchronize()
            x.item()
            x.handlers[name]()
    """
    found = [(each.group, each.finding.expression) for each in proved(program).obstacles]
    assert found == [
        (Group.SYNCHRONIZES, "torch.cuda.synchronize()"),
        (Group.MAY, "x.item()"),
        (Group.UNKNOWN, "x.handlers[name]()"),
    ]


def test_each_obstacle_names_what_would_exclude_it() -> None:
    program = """
        def step(x, name: str) -> None:
            if x:
                x.item()
            x.handlers[name]()
    """
    assert all(each.fact for each in proved(program).obstacles)


def test_behind_an_unknown_callee_stands_what_the_check_has_resolved() -> None:
    program = """
        class Worker:
            def run(self) -> None:
                torch.cuda.synchronize()
        class Runner:
            def __init__(self, worker=None) -> None:
                self.worker = worker or Worker()
            def step(self) -> None:
                self.worker.run()
    """
    found = proved(program, entry="Runner.step").obstacles
    assert {each.group for each in found} == {Group.SYNCHRONIZES, Group.UNKNOWN}


def test_a_region_that_is_allowed_is_an_assumption() -> None:
    program = """
        import syncscan
        def step(x: torch.Tensor) -> None:
            with syncscan.allow_sync("the scheduler needs it"):
                x.item()
    """
    certificate = proved(program)
    assert certificate.is_proved
    assert any("the scheduler needs it" in each for each in certificate.assumptions)


def test_a_suppression_with_a_reason_is_an_assumption() -> None:
    program = """
        def step(x: torch.Tensor) -> int:
            return x.item()  # syncscan: ignore[SYN101] read once
    """
    certificate = proved(program)
    assert certificate.is_proved
    assert any("read once" in each for each in certificate.assumptions)


def test_a_suppression_of_a_wait_allows_no_unknown_callee() -> None:
    program = """
        def step(f) -> int:
            return f()  # syncscan: ignore[SYN101] read once
    """
    assert not proved(program).is_proved


def test_a_declared_operation_is_an_assumption() -> None:
    program = """
        def step(x: torch.Tensor) -> torch.Tensor:
            return torch.ops.own.scale(x)
    """
    assert not proved(program).is_proved
    certificate = proved(program, operations={"torch.ops.own.scale": {"result": "input"}})
    assert certificate.is_proved
    assert any("torch.ops.own.scale" in each for each in certificate.assumptions)


def test_a_function_of_the_project_may_be_declared() -> None:
    program = """
        def upload(x, device: torch.device) -> torch.Tensor:
            return x.to(device)
        def step(x: torch.Tensor) -> torch.Tensor:
            return upload(x, x.device)
    """
    assert not proved(program).is_proved
    assert proved(
        program, operations={"program.upload": {"args": ["x", "device"], "result": "gpu"}}
    ).is_proved


def test_attributes_that_follow_from_one_another_are_known() -> None:
    assert proved(
        """
        class Buffer:
            def __init__(self, n: int) -> None:
                self.cpu = torch.zeros(n)
                mirror = self.cpu
                self.np = mirror.numpy()
                self.grow()
            def grow(self) -> None:
                self.cpu = torch.cat([self.cpu, self.cpu])
                self.np = self.cpu.numpy()
            def step(self, i: int, n: int) -> None:
                if self.np[i] > n:
                    self.np[i] = n
        """,
        entry="Buffer.step",
    ).is_proved


@pytest.mark.parametrize(
    ("program", "line"),
    [
        (
            """
            class Runner:
                def __init__(self, x: torch.Tensor) -> None:
                    self.total = x
                def add(self) -> None:
                    self.total = self.total + 1
            def step(runner: Runner) -> None:
                runner.add()
                if runner.total:
                    pass
            """,
            10,
        ),
        ("def step(x: torch.Tensor) -> torch.Size: return torch.Size((3, x.sum()))", 2),
        (
            """
            FLAG = False
            def enable(x: torch.Tensor) -> None:
                global FLAG
                FLAG = x
            def step() -> int:
                return 1 if FLAG else 2
            """,
            8,
        ),
        (
            """
            def step(xs: list[int], x: torch.Tensor) -> list[int]:
                return sorted(xs, key=lambda each: x[each])
            """,
            4,
        ),
    ],
)
def test_a_hidden_wait_is_named(program: str, line: int) -> None:
    assert line in {each.finding.line for each in proved(program).obstacles}


def test_functions_that_call_one_another_return_what_one_of_them_makes() -> None:
    assert proved(
        """
        def even(n: int):
            return True if n == 0 else odd(n - 1)
        def odd(n: int):
            return False if n == 0 else even(n - 1)
        def step(n: int) -> int:
            return 1 if odd(n) else 2
        """
    ).is_proved


@pytest.mark.parametrize(
    "program",
    [
        "def step(names, x: torch.Tensor) -> bool:\n    return 'scale' in names and x is not None",
        "def step(name) -> int:\n    return 1 if name in ('cpu', 'cuda') else 2",
        "def step(options: dict[str, int]) -> int:\n    return 1 if options != 1.0 else 2",
        "def step(x: torch.Tensor, *sizes: int) -> torch.Tensor:\n    return x.reshape(*sizes, -1)",
        "def step(**options) -> str:\n    return ','.join(name for name in options)",
        """
        import enum
        class Mode(enum.Enum):
            FAST = 1
        def step(mode) -> int:
            return 1 if mode == Mode.FAST else 2
        """,
        """
        def step(x: torch.Tensor, n: int) -> int:
            rows = []
            for row in range(n):
                if row:
                    rows.append(row + 1)
            return 1 if rows[0] > 2 and all(each for each in rows) else 2
        """,
        """
        class Block(torch.nn.Module):
            def step(self) -> int:
                return 1 if self.training else 2
        """,
    ],
)
def test_what_no_tensor_can_be_is_no_obstacle(program: str) -> None:
    entry = "Block.step" if "Block" in program else "step"
    assert [each.finding.message for each in proved(program, entry=entry).obstacles] == []


@pytest.mark.parametrize(
    "program",
    [
        "def step(n, names: list[int]) -> bool:\n    return n in names",
        "def step(mode) -> int:\n    return 1 if mode == 3 else 2",
        """
        def step(x: torch.Tensor, n: int) -> int:
            rows = [n]
            for row in x:
                rows.append(row)
            return 1 if rows[0] else 2
        """,
        """
        def step(x: torch.Tensor, n: int) -> int:
            rows = [n]
            def fill() -> None:
                rows.append(x)
            fill()
            return 1 if rows[0] else 2
        """,
        """
        def step(x: torch.Tensor, n: int) -> int:
            rows = [n]
            [rows.append(each) for each in x]
            return 1 if rows[0] else 2
        """,
        "def step(x: torch.Tensor, sizes: list, n) -> torch.Tensor:\n    return x.reshape(*sizes, n)",
        "def step(x: torch.Tensor, *sizes: int, n=0) -> torch.Tensor:\n    return x.reshape(*sizes, n)",
    ],
)
def test_what_may_be_a_tensor_is_an_obstacle(program: str) -> None:
    assert not proved(program).is_proved

"""Attributes count with all that sets them, also where no assignment names them."""

from __future__ import annotations

import pytest

from tests.check.prove.proving import proved

SET = {
    "by-name": """
        class Box:
            def __init__(self) -> None:
                self.limit = 0
            def load(self, x: torch.Tensor) -> None:
                setattr(self, "limit", x)
        def step(box: Box) -> int:
            return 1 if box.limit else 2
    """,
    "by-a-computed-name": """
        class Box:
            def __init__(self) -> None:
                self.limit = 0
            def load(self, values: dict[str, torch.Tensor]) -> None:
                for name, value in values.items():
                    setattr(self, name, value)
        def step(box: Box) -> int:
            return 1 if box.limit else 2
    """,
    "by-the-setter-of-all": """
        class Movable:
            def __setattr__(self, name: str, value) -> None:
                if isinstance(value, torch.Tensor):
                    value = value.cuda()
                super().__setattr__(name, value)
        class Box(Movable):
            def __init__(self) -> None:
                self.limit = torch.zeros(1)
        def step(box: Box) -> int:
            return 1 if box.limit else 2
    """,
    "past-the-setter": """
        class Box:
            def __init__(self, x: torch.Tensor) -> None:
                self.limit = 0
                object.__setattr__(self, "limit", x)
        def step(box: Box) -> int:
            return 1 if box.limit else 2
    """,
    "as-a-buffer-of-a-computed-name": """
        class Box(torch.nn.Module):
            def __init__(self, x: torch.Tensor, name: str) -> None:
                super().__init__()
                self.limit = 0
                self.register_buffer(name, x)
        def step(box: Box) -> int:
            return 1 if box.limit else 2
    """,
    "as-a-buffer": """
        class Box(torch.nn.Module):
            def __init__(self, x: torch.Tensor) -> None:
                super().__init__()
                self.register_buffer(name="limit", tensor=x)
            def reset(self) -> None:
                self.limit = 0
        def step(box: Box) -> int:
            return 1 if box.limit else 2
    """,
    "by-itself-alone": """
        class Box:
            def move(self, fn) -> None:
                self.limit = fn(self.limit)
        def step(box: Box) -> int:
            return 1 if box.limit else 2
    """,
}


@pytest.mark.parametrize("program", SET.values(), ids=SET.keys())
def test_no_way_to_set_an_attribute_is_forgotten(program: str) -> None:
    assert not proved(program).is_proved


def test_a_setter_that_passes_values_on_changes_none() -> None:
    program = """
        class Named:
            def __setattr__(self, name: str, value) -> None:
                if name.startswith("_"):
                    raise AttributeError(name)
                super().__setattr__(name, value)
        class Box(Named):
            def __init__(self) -> None:
                self.limit = 0
        class Other:
            def load(self, values: dict[str, torch.Tensor]) -> None:
                for name, value in values.items():
                    setattr(self, name, value)
        def step(box: Box) -> int:
            return 1 if box.limit else 2
    """
    assert proved(program).is_proved


def test_a_test_for_none_doubts_an_annotation() -> None:
    program = """
        def step(x: torch.Tensor, y: torch.Tensor) -> None:
            if x is None:
                y.item()
    """
    assert not proved(program).is_proved


def test_a_name_that_is_set_to_a_number_is_one() -> None:
    program = """
        class Box:
            def __init__(self) -> None:
                setattr(self, "limit", 0)
        def step(box: Box) -> int:
            return 1 if box.limit else 2
    """
    assert proved(program).is_proved


FILLED = """
class Pool:
    def __init__(self, n: int) -> None:
        self.free = list(range(n))
    def put(self, row: int) -> None:
        self.free.append(row)
    def take(self) -> int:
        return 1 if self.free.pop() else 2
    {more}
def step(pool: Pool) -> int:
    return pool.take()
"""


@pytest.mark.parametrize(
    ("more", "is_proved"),
    [
        ("", True),
        ("def size(self) -> int: return len(self.free)", True),
        ("def lose(self, x: torch.Tensor) -> None: self.free.append(x)", False),
        ("def lose(self) -> list: return self.free", False),
        ("def lose(self, x: torch.Tensor) -> None: (lambda: self.free.append(x))()", False),
        ("def lose(self, x: torch.Tensor) -> None: self.free[0] = x", False),
        ("def lose(self) -> object: return getattr(self, 'free')", False),
        ("def lose(self, rows) -> None: self.free = rows = []; rows.append(rows)", False),
        ("def lose(self, rows) -> None: self.free = rows", False),
    ],
)
def test_a_list_that_nobody_receives_holds_what_was_put_into_it(more: str, is_proved: bool) -> None:
    assert proved(FILLED.replace("{more}", more)).is_proved is is_proved


def test_a_declared_list_stays_declared_where_others_receive_it() -> None:
    program = """
        class Pool:
            def __init__(self) -> None:
                self.rows: list[int] = []
            def put(self, row) -> None:
                self.rows.append(row)
        def step(pool: Pool) -> list:
            return pool.rows if pool.rows[0] else []
    """
    assert proved(program).is_proved

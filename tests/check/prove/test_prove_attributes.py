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

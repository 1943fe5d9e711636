"""Functions that return an argument, and decorators that return the decorated function."""

from __future__ import annotations

import pytest

from tests.check.prove.proving import proved

SAME = {
    "decorators-that-return-the-function": """
        KNOWN = {}
        def register(name: str):
            def decorator(function):
                KNOWN[name] = function
                return function
            return decorator
        def mark(function):
            function.marked = True
            return function
        @register("a")
        @mark
        def is_small(n: int) -> bool:
            return n < 3
        def step(x: torch.Tensor, n: int) -> torch.Tensor:
            return x if is_small(n) else x + 1
    """,
    "a-function-that-returns-its-argument": """
        class Settings:
            size: int = 3
        def checked(settings, least: int = 0):
            settings.least = least
            return settings
        def step(x: torch.Tensor, settings: Settings) -> torch.Tensor:
            return x if checked(settings, 2).size > 3 else x + 1
    """,
}
_REGISTERED = """
        @register
        def is_small(n: int) -> bool:
            return n < 3
        def step(n: int) -> int:
            return 1 if is_small(n) else 2
"""
OTHERS = {
    "decorator-that-returns-another": """
        def register(function):
            def wrapper(*args):
                return torch.ones(1, device="cuda")
            if function is None:
                return function
            function = wrapper
            return function
    """
    + _REGISTERED,
    "decorator-that-rebinds-from-inside": """
        def register(function):
            def swap():
                nonlocal function
                function = lambda n: torch.ones(1, device="cuda")
            swap()
            return function
    """
    + _REGISTERED,
    "argument-that-is-not-returned": """
        def pick(n, x):
            if x is None:
                return n
            return x
        def step(n: int, x: torch.Tensor) -> int:
            return 1 if pick(n, x) else 2
    """,
    "argument-that-a-loop-binds": """
        def last(n, xs):
            for n in xs:
                pass
            return n
        def step(n: int, xs: list[torch.Tensor]) -> int:
            return 1 if last(n, xs) else 2
    """,
    "argument-with-a-default-of-a-tensor": """
        ONE = torch.ones(1, device="cuda")
        def same(n=ONE):
            return n
        def step(n: int) -> int:
            return 1 if same() else 2
    """,
    "argument-spread": """
        def same(n, m=1):
            return n
        def step(n: int, xs: list) -> int:
            return 1 if same(*xs, n) else 2
    """,
}


@pytest.mark.parametrize("name", SAME)
def test_what_is_returned_as_it_is_keeps_its_value(name: str) -> None:
    assert proved(SAME[name]).is_proved


@pytest.mark.parametrize("name", OTHERS)
def test_what_may_be_returned_in_its_place_counts(name: str) -> None:
    assert not proved(OTHERS[name]).is_proved

"""A name that several definitions bind is any of them, and those that it had before."""

from __future__ import annotations

import textwrap

import pytest

from tests.check.prove.proving import proved, proved_files

LIMITS = """
    class Limits:
        def __init__(self, module) -> None:
            self.largest = torch.ones(1, device="cuda")
"""
# Each has a package `names`, whose name `limits` is bound by itself.
BOUND_BY_ITSELF = {
    "submodule": {
        "names.limits": "LARGEST = 3",
        "kinds": LIMITS,
        "names.__init__": """
            from kinds import Limits
            from . import limits as given
            limits = Limits(given)
        """,
    },
    "star": {
        "kinds": LIMITS,
        "more": """
            from kinds import Limits
            limits = Limits(3)
        """,
        "names.__init__": """
            from more import *
            limits = (limits, 1)[0]
        """,
    },
    "star-of-a-star": {
        "kinds": LIMITS,
        "most": """
            from kinds import Limits
            limits = Limits(3)
        """,
        "more": "from most import *",
        "names.__init__": """
            from more import *
            limits = (limits, 1)[0]
        """,
    },
}


@pytest.mark.parametrize("files", BOUND_BY_ITSELF.values(), ids=BOUND_BY_ITSELF.keys())
def test_a_name_bound_by_itself_has_the_value_from_before(files: dict[str, str]) -> None:
    step = """
        from names import limits
        def step() -> int:
            return int(limits.largest)
    """
    assert not proved_files({**files, "program": step}, entry="program:step").is_proved


def test_a_package_that_imports_its_submodule_has_the_submodule() -> None:
    files = {
        "names.limits": "def largest() -> int: return 3",
        "names.__init__": "from . import limits",
        "program": """
            from names import limits
            def step() -> int:
                return limits.largest()
        """,
    }
    assert proved_files(files, entry="program:step").is_proved


def test_a_name_of_python_that_is_bound_again_keeps_its_first_meaning() -> None:
    program = """
        def passed(function):
            return function
        print = passed(print)
        def step(x: torch.Tensor) -> None:
            print(x)
    """
    found = proved(program)
    assert [each.finding.expression for each in found.obstacles] == ["print(x)"]


LOGGER = """
    import logging
    from typing import cast
    class Logger(logging.Logger):
        def once(self, text: str) -> None:
            self.warning(text)
        def __getattr__(self, name: str):
            return torch.cuda.synchronize
    def make(name: str) -> Logger:
        return cast(Logger, logging.getLogger(name))
    logger = make("a")
"""


@pytest.mark.parametrize(
    ("statement", "is_proved"),
    [
        ("logger.info('%d', count)", True),
        ("logger.once('a')", True),
        ("logger.info('%s', x)", False),
        ("logger.drain()", False),
    ],
)
def test_a_method_of_a_base_in_the_standard_library_is_that_method(statement: str, is_proved: bool) -> None:
    program = f"{LOGGER}\n    def step(x: torch.Tensor, count: int) -> None:\n        {statement}\n"
    assert proved(program).is_proved is is_proved


@pytest.mark.parametrize(
    ("expression", "more", "is_proved"),
    [
        ("table.keys() - names", "", True),
        ("set(table) | names", "", True),
        (
            "table.keys() - names",
            "class Odd:\n        def __rsub__(self, other):\n            return iter(other)",
            False,
        ),
        ("[1] * names", "", False),
    ],
)
def test_the_operators_of_sets_give_sets(expression: str, more: str, is_proved: bool) -> None:
    program = f"""
    {more}
    def step(table: dict[str, int], names) -> int:
        count = 0
        for name in {expression}:
            count += 1
        return count
    """
    assert proved(program).is_proved is is_proved


STAR = """
    from limits import *
    MORE
    def step(x: torch.Tensor) -> torch.Tensor:
        return scaled(x)
"""
SCALED = {
    "limits": "def scaled(x): return x * 2\ndef _read(x): return x.item()",
    "reading": "def scaled(x): return x * x.item()",
    "through": "from limits import *",
}


@pytest.mark.parametrize(
    ("text", "is_proved"),
    [
        (STAR.replace("MORE", ""), True),
        (STAR.replace("limits", "through").replace("MORE", ""), True),
        (STAR.replace("limits", "reading").replace("MORE", ""), False),
        (STAR.replace("MORE", "from reading import *"), False),  # the last star binds the name
        (STAR.replace("MORE", "import reading"), True),
        (STAR.replace("MORE", "from elsewhere import *"), False),
        (
            STAR.replace("limits", "reading").replace("MORE", "def scaled(x): return x * 2"),
            False,
        ),  # code above may read it
        (STAR.replace("MORE", "from reading import scaled"), False),
        (
            STAR.replace("limits", "reading").replace(
                "MORE", "if len(__name__) > 3: from limits import scaled"
            ),
            False,
        ),
        (
            "from limits import scaled\n"
            + textwrap.dedent(STAR.replace("limits", "reading").replace("MORE", "")),
            False,
        ),
    ],
)
def test_a_star_may_bind_each_name_of_its_module(text: str, *, is_proved: bool) -> None:
    assert proved_files({**SCALED, "program": text}, entry="program:step").is_proved is is_proved


def test_a_star_may_leave_a_name_of_python_as_it_is() -> None:
    files = {
        "reading": "__all__ = ['other']\nother = 1\ndef max(a, b): return 1",
        "program": """
            from reading import *
            def step(x, y):
                return max(x, y)
        """,
    }
    assert not proved_files(files, entry="program:step").is_proved


def test_a_long_chain_of_stars_and_stars_of_one_another_are_followed() -> None:
    chain = {f"m{i}": f"from m{i + 1} import *" for i in range(20)}
    files = {
        "limits": "from program import *\ndef scaled(x): return x * 2",
        **chain,
        "m20": "def scaled(x): return x.item()",
        "program": """
            from limits import *
            MORE
            def step(x):
                return scaled(x)
        """,
    }
    for more, is_proved in (("", True), ("from m0 import *", False)):
        given = {**files, "program": files["program"].replace("MORE", more)}
        assert proved_files(given, entry="program:step").is_proved is is_proved


@pytest.mark.parametrize("patched", ["limits", "program"])
def test_a_name_behind_a_star_that_other_code_sets_may_be_anything(patched: str) -> None:
    files = {
        "limits": "def scaled(x): return x * 2",
        "patching": f"import {patched}\ndef patch(found): {patched}.scaled = found",
        "program": """
            from limits import *
            def step(x):
                return scaled(x)
        """,
    }
    assert not proved_files(files, entry="program:step").is_proved
    assert proved_files({**files, "patching": ""}, entry="program:step").is_proved

"""What facts say of what is in a container, in some calls and under some keys."""

from __future__ import annotations

import json

import pytest

from tests.check.test_check_facts import facts

TUPLE = """\
import torch


def prepare(mask, n):
    if mask is None:
        return True, None, n, n, n
    return False, mask, n, n, n


def use(mask, n):
    early, mask, n, more, most = prepare(mask, n)
    if early or n > more:
        return n
    if mask is not None and mask.any():
        return more
    return most
"""
OPTIONS = """\
def attend(x, **kwargs):
    if kwargs.get("output_attentions", False):
        return x
    return None
"""


@pytest.fixture
def found(syncscan, project):
    """The lines and codes that are found in a source with facts about it."""

    def run(source: str, **functions: dict[str, dict[str, int]]) -> set[tuple[int, str]]:
        project({"state.py": source, "facts.json": facts(source, **functions)})
        done = syncscan(
            "check", "state.py", "--facts", "facts.json", "--output-format", "json", "--when", "all"
        )
        assert done.stderr == ""
        return {(each["line"], each["code"]) for each in json.loads(done.stdout)["findings"]}

    return run


def test_a_container_of_numbers_in_other_calls_hides_no_tensor(found):
    words = {
        "mask": {"gpu bool": 9, "none": 2},
        "return": {"tuple[bool | gpu bool | int]": 9, "tuple[bool | int | none]": 2},
    }
    assert found(TUPLE, prepare=words) == {(14, "SYN104")}


def test_what_was_under_other_keys_was_not_under_those_that_the_function_names(found):
    words = {"x": {"gpu float": 9}, "kwargs": {"dict[gpu int]": 9}}
    assert found(OPTIONS, attend=words) == {(2, "SYN104")}  # as far as facts without keys tell
    assert found(OPTIONS, attend=words | {"kwargs[output_attentions]": {"bool": 8}}) == set()

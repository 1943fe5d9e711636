"""Proofs with runtime facts: the observed values of parameters, results and attributes exclude obstacles."""

from __future__ import annotations

import ast
import textwrap

import pytest

from syncscan.check.prove.answer import Certificate
from syncscan.facts import FactSet, syntax_of
from tests.check.prove.proving import proved

FACTS = """
class Pool:
    def __init__(self, config) -> None:
        self.size = config.size
    def step(self, x: torch.Tensor, n, pick) -> torch.Tensor:
        return x[: self.size + n] if pick() else x
"""


def _facts_of(program: str, words: dict[str, dict[str, int]]) -> FactSet:
    return _facts_of_all(program, {"Pool.step": words})


def _facts_of_all(program: str, seen: dict[str, dict[str, dict[str, int]]]) -> FactSet:
    tree, facts = ast.parse("import torch\n" + textwrap.dedent(program)), FactSet()
    for name, words in seen.items():
        last = name.rpartition(".")[2]
        (node,) = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef) and each.name == last]
        facts.of(f"program:{name}", syntax_of(node)).add(3, words)
    return facts


def _proved(program: str, **words: dict[str, int]) -> Certificate:
    """Prove a program whose function `step` was seen with these values; ``x_after`` is `x after`."""
    named = {name.replace("_after", " after"): counts for name, counts in words.items()}
    return proved(program, facts=_facts_of_all(program, {"step": named}))


@pytest.mark.parametrize(
    ("words", "count"),
    [
        ({}, 3),
        ({"n": {"int": 3}, "self.size": {"int": 3}}, 2),  # what `pick` is, and the truth of its result
        ({"n": {"int": 2, "object": 1}, "self.size": {"int": 3}}, 3),
        ({"n": {"int": 2, "gpu int": 1}, "self.size": {"int": 3}}, 3),
    ],
)
def test_runtime_facts_say_what_is_not_declared(words: dict[str, dict[str, int]], count: int) -> None:
    certificate = proved(FACTS, entry="Pool.step", facts=_facts_of(FACTS, words))
    assert len(certificate.obstacles) == count
    assert any("runtime facts" in each for each in certificate.assumptions) is bool(words)


OPTIONS = """
class Pool:
    def step(self, *sizes, **options) -> None:
        if options["size"] or sizes[0]:
            pass
"""


@pytest.mark.parametrize(
    ("words", "count"),
    [
        ({"options": {"dict[int]": 3}, "options after": {"dict[int]": 3}}, 0),
        ({"options": {"dict[]": 3}, "options[size]": {"int": 3}, "options after": {"dict[]": 3}}, 0),
        (
            {"options": {"dict[int]": 3}, "options[size]": {"gpu int": 3}, "options after": {"dict[int]": 3}},
            1,
        ),
        ({"options": {"dict[int]": 3}, "options[size]": {"object": 3}, "options after": {"dict[int]": 3}}, 1),
        (
            {"options": {"dict[int]": 3}, "options after": {"dict[gpu int | int]": 3}},
            1,
        ),  # as each call leaves it
        ({"options": {"dict[int]": 3}}, 1),  # what a call leaves is not known
        (
            {"options": {"dict[int | more]": 3}, "options after": {"dict[int]": 3}},
            1,
        ),  # nor all that it was given
        ({"options": {"dict[int]": 3}, "options after": {"dict[int]": 3}, "sizes": {"tuple[gpu int]": 3}}, 1),
    ],
)
def test_runtime_facts_say_what_is_passed_on(words: dict[str, dict[str, int]], count: int) -> None:
    seen = {"sizes": {"tuple[int]": 3}, **words}
    certificate = proved(OPTIONS, entry="Pool.step", facts=_facts_of(OPTIONS, seen))
    assert len(certificate.obstacles) == count


CLASSES = """
class Layer:
    def __init__(self, limit: int) -> None:
        self.limit = limit
class Deep(Layer):
    def __init__(self, limit: torch.Tensor) -> None:
        self.limit = limit
class Other:
    def __init__(self, limit: int) -> None:
        self.limit = limit
def step(layer) -> int:
    return 1 if layer.limit else 2
"""


@pytest.mark.parametrize(
    ("word", "is_proved"),
    [
        ("object program.Other", True),
        ("object program.Layer", False),  # or a subclass, whose size is a tensor
        ("object program.Gone", False),  # a class that the project does not show
        ("object", False),
        ("gpu int", False),
    ],
)
def test_the_class_of_an_object_decides_its_attributes(word: str, *, is_proved: bool) -> None:
    assert _proved(CLASSES, layer={word: 3}).is_proved is is_proved


def test_an_object_of_another_package_is_no_tensor_and_all_else_of_it_is_open() -> None:
    assert _proved("def step(x) -> int:\n    return 1 if x else 2\n", x={"object enum.Flag": 3}).is_proved
    deeper = "def step(x) -> int:\n    return 1 if x.size else 2\n"
    assert not _proved(deeper, x={"object elsewhere.Thing": 3}).is_proved


@pytest.mark.parametrize(
    ("annotation", "is_proved"), [("torch.nn.Module", True), ("Layer", True), ("Other", False)]
)
def test_a_class_that_was_seen_narrows_a_declared_one(annotation: str, *, is_proved: bool) -> None:
    program = f"""
        class Layer(torch.nn.Module):
            pass
        class Inner(Layer):
            def __init__(self, size: int) -> None:
                self.size = size
        class Other:
            pass
        def step(layer: {annotation}) -> int:
            return 1 if layer.size else 2
    """
    assert _proved(program, layer={"object program.Inner": 3}).is_proved is is_proved


KEYS = """
def step(x: torch.Tensor, **options) -> int:
    {store}
    return 1 if options.get("debug", False) else 2
"""


@pytest.mark.parametrize(
    ("before", "after", "is_proved"),
    [
        ({"absent": 3}, {"absent": 3}, True),
        ({"absent": 1, "bool": 2}, {"bool": 3}, True),
        ({"absent": 3}, {"gpu bool": 3}, False),
        ({"absent": 3}, None, False),  # not recorded
    ],
)
def test_a_key_that_no_call_passed_is_not_there(
    before: dict[str, int], after: dict[str, int] | None, *, is_proved: bool
) -> None:
    words = {"options": {"dict[object]": 3}, "options[debug]": before, "options after": {"dict[object]": 3}}
    words |= {} if after is None else {"options after[debug]": after}
    program = KEYS.format(store="pass")
    assert proved(program, facts=_facts_of_all(program, {"step": words})).is_proved is is_proved


@pytest.mark.parametrize(
    "store",
    [
        'options["debug"] = x',
        "options.update(debug=x)",
        'options.setdefault("debug", x)',
        "other = options\n    other['debug'] = x\n    return 1 if other['debug'] else 2",
    ],
)
def test_what_a_function_puts_into_a_dictionary_is_there_whatever_was_seen(store: str) -> None:
    absent = {"absent": 3}
    words = {"options": {"dict[]": 3}, "options[debug]": absent, "options after": {"dict[]": 3}}
    words |= {"options after[debug]": absent}
    program = KEYS.format(store=store)
    assert not proved(program, facts=_facts_of_all(program, {"step": words})).is_proved


def test_an_attribute_of_a_container_is_one_of_a_subclass() -> None:
    for kind in ("list", "dict", "tuple"):
        assert not proved(
            f"def step(found: {kind}) -> int:\n    return 1 if found.largest else 2\n"
        ).is_proved
    assert proved(
        "def step(found: tuple[int, int]) -> int:\n    return 1 if found.largest else 2\n"
    ).is_proved


def test_keys_that_were_texts_are_texts() -> None:
    program = "def step(**options) -> str:\n    return [f'{key}' for key in make()][0]\ndef make():\n    return unknown\n"
    for keys in ("text", "object"):
        words = {"return": {"dict[gpu int]": 3}, "return{}": {keys: 3}}
        found = proved(program, facts=_facts_of_all(program, {"make": words})).obstacles
        assert any("the text is" in each.finding.message for each in found) is (keys != "text")


def test_a_dictionary_of_its_own_class_is_an_object_of_the_class() -> None:
    program = """
        class Record(dict):
            def get(self, key):
                return torch.ones(1, device="cuda")
        def step(record) -> int:
            return 1 if record.get("a") else 2
    """
    for word in ("dict program.Record[int]", "dict elsewhere.Record[int]"):
        assert not _proved(program, record={word: 3}, record_after={word: 3}).is_proved
    plain = "def step(record) -> int:\n    return 1 if record.get('a') else 2\n"
    for word, is_proved in (
        ("dict collections.OrderedDict[int]", True),
        ("dict elsewhere.Record[int]", False),
    ):
        assert _proved(plain, record={word: 3}, record_after={word: 3}).is_proved is is_proved


def test_the_items_of_a_result_are_anything_once_it_has_a_name() -> None:
    program = """
        def make(n):
            return unknown[n]
        def step(x: torch.Tensor, n: int) -> int:
            {body}
    """
    for body, is_proved in {
        "return 1 if make(n)[0] else 2": True,
        "rows = make(n); rows[0] = x; return 1 if rows[0] else 2": False,
    }.items():
        text = program.format(body=body)
        facts = _facts_of_all(text, {"make": {"n": {"int": 3}, "return": {"list[int]": 3}}})
        assert proved(text, facts=facts).is_proved is is_proved


@pytest.mark.parametrize(("word", "is_proved"), [("int", True), ("gpu int", False)])
def test_facts_are_held_against_annotations(word: str, *, is_proved: bool) -> None:
    assert _proved("def step(n: int) -> int:\n    return 1 if n else 2\n", n={word: 3}).is_proved is is_proved
    converted = "def step(n: float) -> float:\n    return float(n)\n"
    assert not proved(converted).is_proved
    assert _proved(converted, n={word.replace("int", "float"): 3}).is_proved is is_proved


def test_a_tuple_of_another_length_than_its_annotation_is_what_was_seen() -> None:
    program = """
        def make(n) -> tuple[torch.Tensor, int]:
            return unknown
        def step(n: int) -> int:
            found, last, _ = make(n)
            return 1 if {name} else 2
    """
    words = {"n": {"int": 3}, "return": {"tuple(int, gpu int, int)": 3}}
    for name, is_proved in (("found", True), ("last", False)):
        text = program.format(name=name)
        assert proved(text, facts=_facts_of_all(text, {"make": words})).is_proved is is_proved


def test_the_object_of_a_function_in_a_function_is_of_the_class_that_was_seen() -> None:
    program = """
        class Layer:
            def __init__(self) -> None:
                self.is_on = False
        def wrapped():
            def step(self) -> int:
                return 1 if self.is_on else 2
            return step
    """
    facts = {"wrapped.step": {"self": {"object program.Layer": 3}}}
    assert not proved(program, entry="wrapped.step").is_proved
    assert proved(program, entry="wrapped.step", facts=_facts_of_all(program, facts)).is_proved


HELD = """
class Other:
    @property
    def limit(self):
        return unknown
class Settings:
    def __init__(self, **options) -> None:
        self.size = options["size"]
        self.limit = options["limit"]
def step(settings, x: torch.Tensor) -> int:
    {before}
    return 1 if {read} else 2
"""


@pytest.mark.parametrize(
    ("before", "read", "words", "is_proved"),
    [
        ("pass", "settings.size", {}, True),
        ("pass", "getattr(settings, 'size', 0)", {}, True),
        ("pass", "settings.size", {"settings.size": {"int": 2, "gpu int": 1}}, False),
        ("pass", "settings.size", {"settings.size after": {"gpu int": 3}}, False),
        ("settings.size = x", "settings.size", {"settings.size after": {"gpu int": 3}}, False),
        ("pass", "settings.size", {"settings.size": {"object": 3}}, False),
        ("pass", "settings.limit", {}, True),  # the property is of another class
        ("pass", "settings.limit", {"settings": {"object": 3}}, False),
        ("pass", "settings.limit", {"settings": {"object program.Other": 3}}, False),
        ("other = settings", "other.size", {}, False),
    ],
)
def test_attributes_of_a_parameter_are_what_was_seen(
    before: str, read: str, words: dict[str, dict[str, int]], *, is_proved: bool
) -> None:
    program = HELD.format(before=before, read=read)
    held = {f"settings.{name}{when}": {"int": 3} for name in ("size", "limit") for when in ("", " after")}
    seen = {"settings": {"object program.Settings": 3}, **held, **words}
    assert proved(program, facts=_facts_of_all(program, {"step": seen})).is_proved is is_proved


def test_an_attribute_without_a_record_of_the_end_of_calls_is_open() -> None:
    program = HELD.format(before="pass", read="settings.size")
    seen = {"settings": {"object program.Settings": 3}, "settings.size": {"int": 3}}
    assert not proved(program, facts=_facts_of_all(program, {"step": seen})).is_proved

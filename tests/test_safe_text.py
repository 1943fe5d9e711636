"""What others wrote reaches the terminal as text, never as a command to it."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncscan.report.safe_text import safe_line, safe_lines, safe_values

REORDERING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", r"\x1b[31mred"),
        ("\x9b31mred", r"\x9b31mred"),
        ("title\x07\x00\x08\x7f", r"title\x07\x00\x08\x7f"),
        ("a.py\n::error file=b.py::", r"a.py\n::error file=b.py::"),
        ("shown\rhidden", r"shown\rhidden"),
        ("a\tb\x0bc\x0cd\x85e\u2028f\u2029g", r"a\tb\x0bc\x0cd\x85e\u2028f\u2029g"),
        ("\u202aa\u202bb\u202cc\u202dd\u202ee", r"\u202aa\u202bb\u202cc\u202dd\u202ee"),
        ("\u2066a\u2067b\u2068c\u2069", r"\u2066a\u2067b\u2068c\u2069"),
        ("\udcff \ud800", r"\udcff \ud800"),
    ],
)
def test_what_is_unsafe_is_escaped(text, shown):
    assert safe_line(text) == shown


@pytest.mark.parametrize(
    "text", ["", "x[idx] = 0.0", r"C:\new\table", "größe \u202f 名前 👩\u200d💻 e\u0301 שלום"]
)
def test_what_is_text_stays(text):
    assert safe_line(text) == safe_lines(text) == text


def test_several_lines_keep_tabs_and_line_ends():
    assert safe_lines("a\tb\r\nc\n\nd\re\x1b\x85f\u2028") == "a\tb\r\nc\n\nd\\re\\x1b\\x85f\\u2028"


@given(st.text(st.characters()))
def test_one_line_holds_no_control_and_can_be_encoded(text):
    line = safe_line(text)
    assert len(line.splitlines()) <= 1
    assert not [c for c in line if unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"}]
    assert not [c for c in line if unicodedata.bidirectional(c) in REORDERING]
    assert line.encode().decode() == line


@given(st.text(st.characters(exclude_characters="\t\r")))
def test_several_lines_are_safe_line_by_line(text):
    assert safe_lines(text) == "\n".join(map(safe_line, text.split("\n")))


def test_of_plain_data_every_text_is_safe_and_not_endless():
    data = {"a\x1b": ["b\n", {"c": 1, "d": None}, "x" * 2000, 1.5, True]}
    assert safe_values(data) == {"a\\x1b": ["b\\n", {"c": 1, "d": None}, "x" * 1000 + "...", 1.5, True]}

"""The lines of a file, which are what splitting its text gives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncscan.check.infer.source.lines import Lines

texts = st.text(st.sampled_from("ab é\n\r\x0c"), max_size=20)


@given(texts, st.slices(8))
def test_lines_are_what_splitting_gives(text: str, some: slice) -> None:
    lines, split = Lines(text), text.split("\n")
    assert [*lines] == split
    assert len(lines) == len(split)
    assert [*lines[some]] == split[some]
    assert lines[-1] == split[-1]
    with pytest.raises(IndexError):
        lines[len(split)]


@given(texts, st.text("ab", min_size=1, max_size=2))
def test_a_name_is_mentioned_where_a_line_has_it(text: str, name: str) -> None:
    assert Lines(text).mention(name) is any(name in line for line in text.split("\n"))

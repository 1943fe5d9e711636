"""Numbers in messages: three digits of a mean, and every digit before the point."""

from __future__ import annotations

import pytest

from syncscan.words import number


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.25, "0.25"), (1.0, "1"), (12.345, "12.3"), (999.4, "999"), (999.6, "1,000"), (1234.5, "1,234"), (10, "10")],
)  # fmt: skip
def test_a_number_has_three_digits_or_all_before_the_point(value, text):
    assert number(value) == text

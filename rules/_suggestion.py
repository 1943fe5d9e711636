"""A suggestion: the code to write in place of a line, by the line's site."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One suggestion: the sites that fit, the code to write, and the codes of the rules that use the suggestion."""

    where: str
    text: str
    codes: frozenset[str]

    def is_in(self, text: str) -> bool:
        """Return whether a text is this suggestion, whatever the operands are."""
        form = re.sub(r"\\\{\w+\\\}", ".*", re.escape(self.text))
        return re.fullmatch(form, text, re.DOTALL) is not None


def row(codes: str, where: str, text: str) -> Suggestion:
    """Return a suggestion for rules whose codes are given by their numbers, separated by spaces."""
    return Suggestion(where, text, frozenset(f"SYN{code}" for code in codes.split()))

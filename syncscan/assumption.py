"""One assumption of a proof as a user writes it, on the command line or in the settings.

    ASSUMPTION = MODULE ":" PATH [FACT] " = " CONSTANT        FACT = ".is_cpu" | ".is_cuda" | ".is_plain" | ".ndim" | ".dtype"

A path is an attribute of a class, a parameter of a function, a variable of a module, or a call without arguments:
``m:Runner.flag``, ``m:prepare.lengths``, ``m:FLAG``, ``m:can_pin()``. With a ``*`` in it, a path is a pattern for tensors.
``m:Settings.*.is_plain = True`` takes the attributes of a class for numbers, texts, None, and containers of these.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

ASSUMPTION_FORM = "write it as 'package.module:Class.attribute = CONSTANT'"
_FACTS = frozenset({"is_plain", "is_cpu", "is_cuda", "ndim", "dtype"})


@dataclass(frozen=True, slots=True)
class Assumption:
    """One of them: the path it is about, the fact of a tensor if it is about one, and the constant."""

    text: str
    module: str
    path: str
    fact: str
    constant: Any


def parse_assumption(text: str) -> Assumption:
    """Parse an assumption; ValueError names the fault."""
    name, equals, value = text.partition("=")
    module, colon, path = name.strip().partition(":")
    if not equals or not colon or not module or not path:
        raise ValueError(f"{text!r} is no assumption; {ASSUMPTION_FORM}")
    try:
        known = ast.literal_eval(value.strip())
    except (ValueError, SyntaxError, TypeError):
        raise ValueError(
            f"{value.strip()!r} is no constant, such as True, 0 or 'text'; {ASSUMPTION_FORM}"
        ) from None
    before, _, last = path.rpartition(".")
    if last == "is_plain" and known is not True:
        raise ValueError(f"{text!r}: only `is_plain = True` is a fact")
    fact = last if last in _FACTS and before else ""
    return Assumption(" ".join(text.split()), module, before if fact else path, fact, known)

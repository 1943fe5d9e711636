"""The parameters of functions, as their source declares them."""

from __future__ import annotations

import ast
from dataclasses import dataclass


@dataclass(eq=False, slots=True)
class Parameter:
    """One parameter of a function; ``star`` is "", "*" or "**"."""

    name: str
    annotation: ast.expr | None
    default: ast.expr | None
    star: str
    keyword_only: bool

    @property
    def is_none_by_default(self) -> bool:
        """True if the default is None as it is written."""
        return isinstance(self.default, ast.Constant) and self.default.value is None

    @property
    def is_plain_by_default(self) -> bool:
        """True if the default is None, a truth value, a number or a text."""
        return self.is_none_by_default or self.is_flag or self.is_compared

    @property
    def is_flag(self) -> bool:
        """True if the default is True or False as it is written."""
        return isinstance(self.default, ast.Constant) and type(self.default.value) is bool

    @property
    def is_compared(self) -> bool:
        """True if the default is a number or a text, which a comparison may ask for: ``norm_type == 2``."""
        return isinstance(self.default, ast.Constant) and type(self.default.value) in {int, float, str}

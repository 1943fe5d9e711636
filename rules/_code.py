"""The code of fixes: the text of calls with some arguments changed, and all other text as written."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from syncscan.rule import Facts

from ._parts import ATOMS

_MARK = "\0"  # stands in no source
_COMMA = re.compile(r"(?:[^#,]|#.*)*,")
_LINE_BREAK = re.compile(r"[ \t\f]*(#.*)?(?<!\\)\n(.*\n)*")


@dataclass(frozen=True)
class CallCode:
    """The code of a call, and the changes to make."""

    call: ast.Call
    facts: Facts
    edits: Mapping[ast.AST, str] = field(default_factory=dict)
    appended: tuple[str, ...] = ()

    def edited(self, node: ast.AST, text: str) -> CallCode:
        """Return the code with other text in place of a node."""
        return replace(self, edits={**self.edits, node: text})

    def renamed(self, name: str) -> CallCode:
        """Return the code with another function of the same module, of a call such as ``torch.tensor(1)``."""
        function = self.call.func
        assert isinstance(function, ast.Attribute)
        text = self.facts.edited(function, {}).removesuffix(function.attr) + name
        return self.edited(function, _inside_its_parentheses(function, text, self.facts))

    def with_argument(self, name: str, value: str) -> CallCode:
        """Return the code with a keyword argument changed, or added at its end."""
        given = next((keyword.value for keyword in self.call.keywords if keyword.arg == name), None)
        if given is not None:
            return self.edited(given, value)
        return replace(self, appended=(*self.appended, f"{name}={value}"))

    def without_last(self) -> str:
        """Return the code without the last argument, and without the comma before it."""
        *_, kept, _ = arguments_of(self.call)
        text = self.edited(kept, f"{edited(kept, self.edits, self.facts)}{_MARK}").text()
        return f"{text.partition(_MARK)[0]})"

    def text(self) -> str:
        """Return the code without parentheses around it."""
        arguments = arguments_of(self.call)
        if not self.appended or not arguments:
            text = self.facts.edited(self.call, self.edits)
            return f"{text[:-1]}{', '.join(self.appended)})" if self.appended else text
        last = arguments[-1]
        text = self.edits[last] if last in self.edits else edited(last, self.edits, self.facts)
        between = self._between(*arguments[-2:]) if len(arguments) > 1 else ", "
        written = between.join([text, *self.appended])
        if self.facts.edited(self.call, {last: _MARK}).endswith(
            _MARK
        ):  # a generator in the parentheses of the call
            written = f"({written})"
        return self.facts.edited(self.call, {**self.edits, last: written})

    def whole(self) -> str:
        """Return the code with the parentheses that stand around the call."""
        return _inside_its_parentheses(self.call, self.text(), self.facts)

    def _between(self, one: ast.AST, other: ast.AST) -> str:
        """Return the text between two arguments: a comma and the line break behind it, without comments."""
        between = self.facts.edited(self.call, {one: _MARK, other: _MARK}).split(_MARK)[1]
        comma = _COMMA.match(between)
        assert comma is not None
        return comma[0] + _LINE_BREAK.sub("\n", between[comma.end() :])


def arguments_of(call: ast.Call) -> list[ast.expr | ast.keyword]:
    """Return the arguments of a call in the order of the source."""
    return sorted([*call.args, *call.keywords], key=lambda each: (each.lineno, each.col_offset))


def edited(node: ast.AST, edits: Mapping[ast.AST, str], facts: Facts) -> str:
    """Return the text of a node with other text in place of nodes inside, and with the parentheses around."""
    return _inside_its_parentheses(node, facts.edited(node, edits), facts)


def method_call(subject: ast.expr, name: str, *arguments: str, facts: Facts) -> str:
    """Return ``subject.name(arguments)``, with the parentheses that the subject needs."""
    text = facts.source(subject)
    if not isinstance(subject, ATOMS) and not _has_parentheses(subject, facts):
        text = f"({text})"
    return f"{text}.{name}({', '.join(arguments)})"


def as_argument(node: ast.expr, facts: Facts) -> str:
    """Return the text of an expression as the value of a keyword argument."""
    text = facts.source(node)
    return f"({text})" if isinstance(node, ast.NamedExpr) and not _has_parentheses(node, facts) else text


def _has_parentheses(node: ast.expr, facts: Facts) -> bool:
    text = facts.edited(node, {})
    own = isinstance(node, (ast.Tuple, ast.GeneratorExp)) and text.startswith("(")
    return own or facts.source(node) != text


def _inside_its_parentheses(node: ast.AST, text: str, facts: Facts) -> str:
    opening, closing = facts.source(node).split(facts.edited(node, {}), 1)
    return f"{opening}{text}{closing}"

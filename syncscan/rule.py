"""The interface of rules: a `Rule`, the `Facts` it may query, and the `Match` it returns.

The rules themselves are the modules of the folder ``rules/``, one rule a module.
"""

from __future__ import annotations

import ast
import functools
import importlib
import pkgutil
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar, Protocol

from syncscan.errors import SyncscanError
from syncscan.model import Applicability, Value
from syncscan.ops import Case
from syncscan.syntax.context import SyntaxContext


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A fix: replace the source of ``old``, inside any parentheses around the node, by the code ``new``.

    ``description`` and ``change`` are those of `syncscan.model.Fix`.
    """

    old: ast.expr | ast.stmt
    new: str
    description: str
    applicability: Applicability
    change: str = ""


@dataclass(frozen=True, slots=True)
class Match:
    """A node that blocks the CPU, and the operand that is the reason.

    ``because`` is the operand whose device makes the call block. The finding inherits its confidence and
    evidence. ``because`` is None where the call blocks whatever its operands are
    (``torch.cuda.synchronize()``).

    Code that reads a value by name may know that its callers keep the tensor on the host. A mask, or a check of
    errors, gives no such sign. So an annotation alone is evidence enough for a match with ``is_implicit``.
    """

    node: ast.AST
    message: str
    because: Value | None = None
    hint: str = ""  # the suggestion for this place; if empty, the rule's `instead`
    rewrite: Rewrite | None = None
    is_implicit: bool = False  # the code does not ask for the value by name, as `.item()` does
    is_setup: bool = (
        False  # happens once for an object that the code has made, unless steps are known to run the line
    )
    folds: bool = False  # `torch.compile` makes a constant of what blocks, or drops it


def suggestion_of(rule: Rule, match: Match) -> str:
    """Return the suggestion for a match: the description of its rewrite, its own hint, or the rule's ``instead``.

    The check and the trace both call this function, so they suggest the same.
    """
    if match.rewrite is not None:
        return match.rewrite.description
    return match.hint or rule.instead


class Facts(Protocol):
    """The questions that a rule may ask about the code around a node.

    The inference answers them for the check, and `syncscan.trace.classify` for a trace.
    """

    def of(self, node: ast.AST) -> Value:
        """Return the abstract value of an expression, with its device; ``UNKNOWN`` where the analysis has no answer."""

    def name_of(self, node: ast.AST) -> str:
        """Return the full name of a function: "torch.tensor", "torch.Tensor.item" or "builtins.int"; "" if unknown."""

    def blocks(self, node: ast.AST) -> Case | None:
        """Return the case of the operation table under which this call or subscript blocks the CPU, or None."""

    def queued(self, node: ast.AST) -> Case | None:
        """Return the case of a copy that would block the CPU without its ``non_blocking=True``, or None."""

    def behind(self, node: ast.AST) -> Iterator[tuple[ast.AST, Facts]]:
        """Yield the statements that run after the statement of a node, in order, each with its own facts.

        First come the later statements of the same body. If that body is a loop's, the loop statement and the
        body's earlier statements follow. A compound statement is yielded as its head alone, and ends the
        later statements of a body. The iteration also ends at a statement that the analysis does not know to
        be reached.
        """

    def line(self, node: ast.AST) -> int:
        """Return the line of its file on which a node begins, 1-based."""

    def drifts_from(self, node: ast.AST) -> Value | None:
        """Return the GPU tensor that a host array mirrors by its name, where the project only ever adds to the array; else None."""

    def wait_inside(self, node: ast.AST) -> Value | None:
        """Return the value on which the body of a property blocks, for an attribute that reads such a property; else None."""

    def operand(self, node: ast.AST, name: str) -> Value:
        """Return the value that a call or subscript of a known operation has for a parameter, also without an argument.

        The ``group`` of a collective may be the default group. The ``input`` of Python's `max` is what the `key` makes
        of the arguments, and the ``value`` of a store may be unpacked from another.
        """

    def argument(self, call: ast.Call, name: str) -> ast.expr | None:
        """Return the argument that a call of a known operation binds to a parameter, or None where the call omits the argument."""

    def source(self, node: ast.AST) -> str:
        """Return the source text of a node with the parentheses around it; for a compound statement, the text of its head."""

    def edited(self, node: ast.AST, edits: Mapping[ast.AST, str]) -> str:
        """Return the source text of a node without the parentheses around it, with the nodes in ``edits`` replaced."""

    def parent(self, node: ast.AST) -> ast.AST | None:
        """Return the parent of a node within its statement, or None for the statement itself."""

    def statement(self, node: ast.AST) -> ast.AST:
        """Return the statement that contains a node; a compound statement contains only the nodes of its head."""

    def function(self, node: ast.AST) -> str:
        """Return the qualified name of the function that contains a node, "<module>" at the top level of a file."""

    def in_module(self, node: ast.AST) -> bool:
        """Return whether the function of a node belongs to a class that is known to be a `torch.nn.Module`."""

    def in_loop(self, node: ast.AST) -> bool:
        """Return whether a loop or comprehension of the enclosing function evaluates a node repeatedly."""

    def made_in_loop(self, node: ast.AST) -> bool:
        """Return whether an expression reads a name that the body of the innermost enclosing loop sets.

        Such an expression has another value in each iteration.
        """

    def before(self, node: ast.AST) -> ast.AST | None:
        """Return the statement before the statement of a node in the same body, or None."""

    def after(self, node: ast.AST) -> ast.AST | None:
        """Return the statement after the statement of a node in the same body, or None."""

    def raises(self, node: ast.AST) -> bool:
        """Return whether the statement of a node only decides on an error.

        Such a statement is an `assert`, or an `if` whose body only raises.
        """

    def used_at_once(self, node: ast.AST) -> bool:
        """Return whether the statement of an expression, or the next statement, uses the value of the expression."""

    def around(self, node: ast.AST) -> SyntaxContext:
        """Return the syntax of the whole function of a node, from which `syncscan.syntax.use` reads the use of a value."""


class Precedence(IntEnum):
    """The order of rules that match at one place: the lowest value reports."""

    OPERATION = 1  # for one operation, or one way to write the operation
    FAMILY = 2  # for every operation of a kind: reports where no rule of the operation itself does


@dataclass(frozen=True, slots=True)
class Example:
    """A complete small program for the page and the tests of a rule.

    In ``bad`` the lines that block end in ``# expect: SYN101``. ``fixed`` is the result of
    ``--unsafe-fixes``, or "" where the rule only advises. A ``good`` example stands alone and has no finding.
    """

    bad: str = ""
    fixed: str = ""
    good: str = ""


class Rule(ABC):
    """One reason why the CPU blocks.

    The matcher passes a rule the nodes of the types in ``nodes``, in each statement in which the operation
    table finds a blocking call. A rule about other calls lists their full names in ``asks``
    ("torch.cuda.empty_cache", "torch.Tensor.backward"). The matcher then visits every statement that calls
    one of these functions.

    The rule with the lowest ``precedence`` reports where several rules match at one place.

    The module's docstring is the body of the rule's page. The page says what the rule finds, why the call
    hurts, when the rule stays silent, and how safe the fix is.
    """

    code: ClassVar[str]
    name: ClassVar[str]  # kebab-case, what is wrong
    summary: ClassVar[str]  # one line
    instead: ClassVar[str]  # one line: what to write
    nodes: ClassVar[tuple[type[ast.AST], ...]]
    asks: ClassVar[frozenset[str]] = frozenset()
    precedence: ClassVar[Precedence] = Precedence.OPERATION
    is_wait: ClassVar[bool] = True  # False: the rule is about a missing synchronization
    examples: ClassVar[tuple[Example, ...]]

    @abstractmethod
    def match(self, node: ast.AST, facts: Facts) -> Match | Sequence[Match] | None:
        """Return the matches for one node of a type in ``nodes``; several where the node blocks at several places."""

    def matches(self, node: ast.AST, facts: Facts) -> Sequence[Match]:
        """Return the result of `match` as a sequence."""
        found = self.match(node, facts)
        return () if found is None else (found,) if isinstance(found, Match) else found


@functools.cache
def rule_book() -> dict[str, Rule]:
    """Return all rules by code, in the order of the codes.

    Raises SyncscanError where a rule is malformed (`check_rule`) or two rules share a code.
    """
    package = importlib.import_module("syncscan.rules")
    rules: list[Rule] = []
    for module_info in pkgutil.iter_modules(package.__path__):
        if module_info.name.startswith("_"):
            continue
        module = importlib.import_module(f"syncscan.rules.{module_info.name}")
        rules += [
            member()
            for member in vars(module).values()
            # Before Python 3.11 `dict[str, str]` is an instance of `type`.
            if issubclass(type(member), type)
            and issubclass(member, Rule)
            and member.__module__ == module.__name__
        ]
    for rule in rules:
        check_rule(rule)
    book = {rule.code: rule for rule in sorted(rules, key=lambda rule: rule.code)}
    if len(book) < len(rules):
        raise SyncscanError("rules: two rules have one code; give each a code of its own")
    return book


def suggestions_of(code: str) -> list[tuple[str, str]]:
    """Return the rows of the table of suggestions for a rule: the situation and the code to write.

    Operands appear as plain names, without the braces of the table.
    """
    table = importlib.import_module("syncscan.rules._suggestions").TABLE
    return [(row.where, re.sub(r"[{}]", "", row.text)) for row in table.values() if code in row.codes]


def by_precedence() -> list[Rule]:
    """Return all rules in the order in which they may report at one place."""
    return sorted(rule_book().values(), key=lambda rule: (rule.precedence, rule.code))


# The matcher passes no rule these types: they have no value, or their statements are visited by themselves.
_NEVER = (
    *(
        ast.mod,
        ast.FunctionDef,
        ast.AsyncFunctionDef,
        ast.ClassDef,
        ast.Try,
        ast.excepthandler,
        ast.match_case,
    ),
    *(ast.Import, ast.ImportFrom, ast.alias, ast.Global, ast.Nonlocal, ast.Pass, ast.Break, ast.Continue),
    *(ast.pattern, ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop, ast.type_ignore),
    *((ast.TryStar,) if sys.version_info >= (3, 11) else ()),
)
_FULL_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")


def check_rule(rule: Rule) -> None:
    """Raise SyncscanError where ``nodes`` or ``asks`` of a rule name something that the matcher never passes to rules."""
    never = next((node for node in rule.nodes if issubclass(node, _NEVER)), None)
    other = next((node for node in rule.nodes if not issubclass(node, ast.AST)), None)
    if other is not None:
        reason = f"`nodes` names {other.__name__} of {other.__module__.partition('.')[0]}; name types of the module ast"
    elif never is not None:
        reason = (
            f"`nodes` names {never.__name__}, about which no rule is asked; name expressions or statements"
        )
    elif rule.asks and not any(issubclass(ast.Call, node) for node in rule.nodes):
        reason = "`asks` names functions, and `nodes` no calls; add ast.Call"
    elif (
        short := next((name for name in sorted(rule.asks) if not _FULL_NAME.fullmatch(name)), None)
    ) is not None:
        reason = f"`asks` names {short!r}, which is no full name; write it as 'torch.cuda.empty_cache'"
    else:
        return
    raise SyncscanError(f"rule {rule.code} ({rule.name}): {reason}")

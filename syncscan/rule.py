"""What a rule is. The rules themselves are the modules of the folder ``rules/``, one each."""

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


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A fix: put the code ``new`` where ``old`` stands, inside the parentheses around it."""

    old: ast.expr | ast.stmt
    new: str
    description: str
    applicability: Applicability


@dataclass(frozen=True, slots=True)
class Match:
    """A node that makes the host wait, and the value that decides it.

    ``because`` is the operand whose place makes it block: its confidence and evidence become the
    finding's. It is None where the call alone decides (``torch.cuda.synchronize()``).
    """

    node: ast.AST
    message: str
    because: Value | None = None
    hint: str = ""  # what to write instead at this place; the rule's own `instead` where empty
    rewrite: Rewrite | None = None


def suggestion_of(rule: Rule, match: Match) -> str:
    """Return what to write in place of a match, whichever detector asks."""
    if match.rewrite is not None:
        return match.rewrite.description
    return match.hint or rule.instead


class Facts(Protocol):
    """What a rule may ask about the code around it; answered by the inference, or by a trace."""

    def of(self, node: ast.AST) -> Value:
        """Where the value of an expression lives; ``UNKNOWN`` where that is not known."""

    def name_of(self, node: ast.AST) -> str:
        """The full name of a function: "torch.tensor", "torch.Tensor.item", "builtins.int" or ""."""

    def blocks(self, node: ast.AST) -> Case | None:
        """The case of the operation table under which this call or subscript makes the host wait."""

    def queued(self, node: ast.AST) -> Case | None:
        """The case of a copy that would wait, were it not asked to go on while the GPU does it."""

    def behind(self, node: ast.AST) -> Iterator[tuple[ast.AST, Facts]]:
        """The statements that run after the one of a node, in order, and what is known of each.

        They are those behind it in its body, and where that is the body of a loop, the loop and what stands before it. Of one that
        holds others only the head is there, and it is the last, but for that loop. It ends where a statement is not known to be reached.
        """

    def line(self, node: ast.AST) -> int:
        """The line of its file on which a node begins."""

    def drifts_from(self, node: ast.AST) -> Value | None:
        """For a host array that the project only ever adds to: the GPU tensor of which it is a mirror by its name."""

    def wait_inside(self, node: ast.AST) -> Value | None:
        """For an attribute that is a property whose body waits: the value it waits for."""

    def group(self, call: ast.Call) -> Value:
        """The process group that a collective is for: the default one where the call names none."""

    def argument(self, call: ast.Call, name: str) -> ast.expr | None:
        """The argument that a call of a known operation binds to a parameter, if it is given."""

    def source(self, node: ast.AST) -> str:
        """The text of a node, with the parentheses around it; of a statement with a body that of its head."""

    def edited(self, node: ast.AST, edits: Mapping[ast.AST, str]) -> str:
        """The text of a node, without parentheses around it, with other text in place of nodes in it."""

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node around a node; None around the statement."""

    def statement(self, node: ast.AST) -> ast.AST:
        """The statement in which a node stands: a small one, or one with a body, of which only the head counts."""

    def function(self, node: ast.AST) -> str:
        """The qualified name of the function in which a node stands, "<module>" at the top of a file."""

    def in_loop(self, node: ast.AST) -> bool:
        """Whether a loop or a comprehension of the function around it runs a node again and again."""

    def made_in_loop(self, node: ast.AST) -> bool:
        """Whether an expression reads what the body of the innermost loop around it sets: it is another in each round."""

    def before(self, node: ast.AST) -> ast.AST | None:
        """The statement that stands before the one of a node, in the same body."""

    def after(self, node: ast.AST) -> ast.AST | None:
        """The statement that stands behind the one of a node, in the same body."""

    def raises(self, node: ast.AST) -> bool:
        """Whether the statement of a node only decides on an error: an `assert`, or an `if` that does nothing but raise."""

    def used_at_once(self, node: ast.AST) -> bool:
        """Whether the value of an expression is used where it stands, or by the next statement."""


class Precedence(IntEnum):
    """Which of several rules speaks where they match at one place."""

    OPERATION = 1  # about one operation, or one way to write it
    FAMILY = 2  # about any operation of a kind: speaks where none about the operation itself does


@dataclass(frozen=True, slots=True)
class Example:
    """A whole small program.

    In ``bad`` the lines that block end in ``# expect: SYN101``; ``fixed`` is what ``--unsafe-fixes``
    makes of it, or "" where the rule only advises. A ``good`` example stands alone and stays silent.
    """

    bad: str = ""
    fixed: str = ""
    good: str = ""


class Rule(ABC):
    """One reason why the host waits.

    It is asked about the nodes of the types in ``nodes``, in statements in which something blocks by the
    operation table. One that looks for something else names the functions in ``asks``, in full
    ("torch.cuda.empty_cache", "torch.Tensor.backward"): then every statement that calls one is looked at.

    Where several rules match at one place, their ``precedence`` decides which one speaks.

    The docstring of the module is the body of the rule's page: what it does, why it hurts, when the
    rule stays silent, and how safe the fix is.
    """

    code: ClassVar[str]
    name: ClassVar[str]  # kebab-case, what is wrong
    summary: ClassVar[str]  # one line
    instead: ClassVar[str]  # one line: what to write
    nodes: ClassVar[tuple[type[ast.AST], ...]]
    asks: ClassVar[frozenset[str]] = frozenset()
    precedence: ClassVar[Precedence] = Precedence.OPERATION
    is_wait: ClassVar[bool] = True  # what it finds makes the host wait; not so where a wait is missing
    examples: ClassVar[tuple[Example, ...]]

    @abstractmethod
    def match(self, node: ast.AST, facts: Facts) -> Match | Sequence[Match] | None:
        """Decide about one node of a type named in ``nodes``; several matches where it blocks at several places."""

    def matches(self, node: ast.AST, facts: Facts) -> Sequence[Match]:
        """Return what `match` decides, as a sequence."""
        found = self.match(node, facts)
        return () if found is None else (found,) if isinstance(found, Match) else found


@functools.cache
def rule_book() -> dict[str, Rule]:
    """Every rule by its code, in the order of the codes."""
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
    """Return the rows of the table of suggestions that a rule takes: where each fits, and what to write, with names for operands."""
    table = importlib.import_module("syncscan.rules._suggestions").TABLE
    return [(row.where, re.sub(r"[{}]", "", row.text)) for row in table.values() if code in row.codes]


def by_precedence() -> list[Rule]:
    """Every rule, the one first that speaks where several match."""
    return sorted(rule_book().values(), key=lambda rule: (rule.precedence, rule.code))


# What no rule is asked about: it holds statements that are looked at by themselves, or no value.
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
    """SyncscanError where a rule names what it can never be asked about."""
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

"""What a rule is. The rules themselves are the modules of the folder ``rules/``, one each."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Protocol

import libcst as cst

from syncscan.model import Applicability, Value
from syncscan.ops import Case


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A fix in terms of the syntax tree: put ``new`` where ``old`` stands."""

    old: cst.CSTNode
    new: cst.CSTNode
    description: str
    applicability: Applicability


@dataclass(frozen=True, slots=True)
class Match:
    """A node that makes the host wait, and the value that decides it.

    ``because`` is the operand whose place makes it block: its confidence and evidence become the
    finding's. It is None where the call alone decides (``torch.cuda.synchronize()``).
    """

    node: cst.CSTNode
    message: str
    because: Value | None = None
    hint: str = ""  # what to write instead at this place; the rule's own `instead` where empty
    rewrite: Rewrite | None = None


class Facts(Protocol):
    """What a rule may ask about the code around it; answered by the inference, or by a trace."""

    def of(self, node: cst.CSTNode) -> Value:
        """Where the value of an expression lives; ``UNKNOWN`` where that is not known."""

    def name_of(self, node: cst.CSTNode) -> str:
        """The full name of a function: "torch.tensor", "torch.Tensor.item", "builtins.int" or ""."""

    def blocks(self, node: cst.CSTNode) -> Case | None:
        """The case of the operation table under which this call or subscript makes the host wait."""

    def wait_inside(self, node: cst.CSTNode) -> Value | None:
        """For an attribute that is a property whose body waits: the value it waits for."""

    def argument(self, call: cst.Call, name: str) -> cst.BaseExpression | None:
        """The argument that a call of a known operation binds to a parameter, if it is given."""

    def source(self, node: cst.CSTNode) -> str:
        """The text of a node."""


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

    Where several rules match at one place, the first in the order of the codes speaks: one about any
    operation of a kind has a higher code than those about a single operation, and need not know them.

    The docstring of the module is the body of the rule's page: what it does, why it hurts, when the
    rule stays silent, and how safe the fix is.
    """

    code: ClassVar[str]
    name: ClassVar[str]  # kebab-case, what is wrong
    summary: ClassVar[str]  # one line
    instead: ClassVar[str]  # one line: what to write
    nodes: ClassVar[tuple[type[cst.CSTNode], ...]]
    examples: ClassVar[tuple[Example, ...]]

    @abstractmethod
    def match(self, node: cst.CSTNode, facts: Facts) -> Match | None:
        """Decide about one node of a type named in ``nodes``."""


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
            if isinstance(member, type) and issubclass(member, Rule) and member.__module__ == module.__name__
        ]
    return {rule.code: rule for rule in sorted(rules, key=lambda rule: rule.code)}

"""The matcher: ask the rules about the nodes of each candidate statement, and convert their matches into findings."""

from __future__ import annotations

import ast
import functools
import io
import re
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from syncscan.check.blocks import Blocks, Place, bound_in
from syncscan.check.drained import Drained, drains_in
from syncscan.check.infer.solve.public import LazyEvidence
from syncscan.check.infer.solve.record import Candidate, Position, Statements, position_of
from syncscan.check.infer.solve.steps import MOST_STEPS
from syncscan.check.infer.source.index import Function
from syncscan.check.infer.transfer.conditions import Bound
from syncscan.check.nesting import is_too_deep
from syncscan.model import UNKNOWN, Applicability, Confidence, Edit, Evidence, Finding, Fix, Kind, Value, When
from syncscan.ops import Case, by_parameter
from syncscan.rule import Match, Rewrite, Rule, suggestion_of
from syncscan.syntax.context import SyntaxContext, raises
from syncscan.syntax.source_text import Range, holds_statements, inside_of, nodes_of

_NO_OBJECTS = frozenset({Kind.MODULE, Kind.CLASS})


class FunctionSyntax:
    """The records that the statements of one function share, and the syntax that is read once for all of them."""

    def __init__(self, statements: Statements, function: Function) -> None:
        self.statements = statements
        self.function = function
        self.bound_in = functools.cache(bound_in)  # the body of one loop may have many findings

    @functools.cached_property
    def blocks(self) -> Blocks:
        """The statements of the file."""
        return Blocks(self.function.module.tree)

    @functools.cached_property
    def context(self) -> SyntaxContext:
        """The context of all nodes of the function."""
        return SyntaxContext(ast.walk(self.function.node), self.function.module.lines.split())


class StatementFacts:
    """The answers to `syncscan.rule.Facts` for the nodes of one statement, from the values that the inference recorded."""

    def __init__(self, candidate: Candidate, shared: FunctionSyntax) -> None:
        self._candidate = candidate
        self._shared = shared
        self._function = shared.function

    @property
    def switch(self) -> str:
        """The switch that keeps the statement from running, or ""."""
        return self._candidate.switch

    def of(self, node: ast.AST) -> Value:
        """Return the abstract value of an expression; a generator expression is a list of the values that it yields."""
        if isinstance(node, ast.GeneratorExp):
            return Value(Kind.LIST, element=self.of(node.elt))
        return self._candidate.at(_position(node))

    def name_of(self, node: ast.AST) -> str:
        """Return the full name of a called function, or ""."""
        return self._candidate.names.get(_position(node), "")

    def blocks(self, node: ast.AST) -> Case | None:
        """Return the case of the operation table that applies to a call or subscript, or None."""
        return self._candidate.cases.get(_position(node))

    def queued(self, node: ast.AST) -> Case | None:
        """Return the case of a copy that would block the CPU without its ``non_blocking=True``, or None."""
        return self._candidate.queued.get(_position(node))

    def behind(self, node: ast.AST) -> Iterator[tuple[ast.AST, StatementFacts]]:  # noqa: ARG002
        """Yield the statements that run after this one, in order, each with its own facts; see `syncscan.rule.Facts`."""
        place = self._place
        for statement in (*place.behind, *place.again):
            candidate = self._shared.statements.get((statement.lineno, statement.col_offset))
            if candidate is None:
                return
            yield candidate.node, StatementFacts(candidate, self._shared)
            if holds_statements(statement) and statement not in place.again:
                return

    def line(self, node: ast.AST) -> int:
        """Return the line of its file on which a node begins, 1-based."""
        return self.range_of(node)[0]

    def drifts_from(self, node: ast.AST) -> Value | None:
        """Return the GPU tensor that a host array mirrors by its name, where the project only ever adds to the array; else None."""
        return self._candidate.mirrors.get(_position(node))

    def wait_inside(self, node: ast.AST) -> Value | None:
        """Return the value on which the body of a property blocks, for an attribute that reads such a property; else None."""
        return self._candidate.waits.get(_position(node))

    def operand(self, node: ast.AST, name: str) -> Value:
        """Return the value that a call or subscript of a known operation has for a parameter; see `syncscan.rule.Facts`."""
        bound = self._candidate.call_at(_position(node))
        return (bound.get(name) if bound is not None else None) or UNKNOWN

    def argument(self, call: ast.Call, name: str) -> ast.expr | None:
        """Return the argument that a call of a known operation binds to a parameter.

        Return None where the call omits the argument, or passes the argument only through ``*args`` or
        ``**kwargs``.
        """
        bound = self._candidate.call_at(_position(call))
        if bound is None:
            return None
        positional = list(takewhile(lambda arg: not isinstance(arg, ast.Starred), call.args))
        if isinstance(call.func, ast.Attribute) and self._is_method(call.func, bound):
            positional.insert(0, call.func.value)
        keywords = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
        given, _ = by_parameter(bound.operation.args, positional, keywords)
        return given.get(name, (None,))[0]

    def _is_method(self, function: ast.Attribute, bound: Bound) -> bool:
        """Return whether the object before the dot is the first operand, which is false in `torch.Tensor.to(b, "cuda")`."""
        operands, base = bound.operands(), self.of(function.value)
        if bound.operation.name == f"torch.Tensor.{function.attr}" and base.kind not in _NO_OBJECTS:
            return True  # the operand is the base, in the form that the operation takes
        return bool(operands) and operands[0] in base.options

    def source(self, node: ast.AST) -> str:
        """Return the source text of a node with the parentheses around it; for a compound statement, the text of its head."""
        return self._around.text.text_of(node)

    def edited(self, node: ast.AST, edits: Mapping[ast.AST, str]) -> str:
        """Return the source text of a node without the parentheses around it, with the nodes in ``edits`` replaced."""
        return self._around.text.edited(node, edits)

    def range_of(self, node: ast.AST) -> Range:
        """Return the line, column, end line and end column of a node in its file, 1-based, in characters."""
        return self._around.text.range_of(node)

    def parent(self, node: ast.AST) -> ast.AST | None:
        """Return the parent of a node within its statement, or None for the statement itself."""
        return self._around.parent(node)

    def statement(self, node: ast.AST) -> ast.AST:
        """Return the statement that contains a node."""
        return self._around.statement(node)

    def function(self, node: ast.AST) -> str:  # noqa: ARG002 (all nodes of a statement are in one)
        """Return the qualified name of the function that contains a node."""
        return self._function.qualname

    def in_module(self, node: ast.AST) -> bool:  # noqa: ARG002 (all nodes of a statement are in one)
        """Return whether the function belongs to a class that is known to be a `torch.nn.Module`."""
        function: Function | None = self._function
        while function is not None and function.owner is None:
            function = function.parent
        return function is not None and function.owner is not None and function.owner.is_module

    @property
    def in_branch(self) -> bool:
        """True for a statement behind an ``if`` of its function."""
        return self._place.in_branch and not isinstance(self._function.node, ast.Lambda)

    def in_loop(self, node: ast.AST) -> bool:
        """Return whether a loop or comprehension of the enclosing function evaluates a node repeatedly."""
        in_lambda = isinstance(self._function.node, ast.Lambda)
        return self._around.in_loop(node) or (self._place.in_loop and not in_lambda)

    def made_in_loop(self, node: ast.AST) -> bool:
        """Return whether an expression reads a name that the body of the innermost enclosing loop sets."""
        if self._around.in_loop(node) or isinstance(self._function.node, ast.Lambda):
            return self._around.made_in_loop(node)  # of a `while` alone the statement shows the body
        return not self._around.paths_in(node).isdisjoint(self._shared.bound_in(self._place.loop))

    def before(self, node: ast.AST) -> ast.AST | None:  # noqa: ARG002 (all nodes are in one statement)
        """Return the statement before this one in the same body, or None."""
        return self._beside(self._place.before)

    def after(self, node: ast.AST) -> ast.AST | None:  # noqa: ARG002 (all nodes are in one statement)
        """Return the statement after this one in the same body, or None."""
        return self._beside(self._place.after)

    def raises(self, node: ast.AST) -> bool:  # noqa: ARG002 (all nodes are in one statement)
        """Return whether this statement only decides on an error.

        Such a statement is an `assert`, or an `if` that begins with a raise and has no `else`.
        """
        return raises(self._candidate.node)

    def used_at_once(self, node: ast.AST) -> bool:
        """Return whether this statement, or the next one, uses the value of an expression."""
        return self._around.used_at_once(node, self.after(node))

    def around(self, node: ast.AST) -> SyntaxContext:  # noqa: ARG002 (all nodes are in one function)
        """Return the syntax of the whole function."""
        return self._around_function

    @property
    def is_for_torchscript(self) -> bool:
        """True if the file names TorchScript, which takes other arguments than Python, and infers other dtypes."""
        return _names_torchscript(self._function.module.lines.text)

    def is_in_string(self, node: ast.AST) -> bool:
        """Return whether a node is part of an f-string."""
        around = self.parent(node)
        while around is not None and not isinstance(around, ast.JoinedStr):
            around = self.parent(around)
        return around is not None

    @functools.cached_property
    def _around(self) -> SyntaxContext:
        return SyntaxContext(nodes_of(self._candidate.node), self._function.module.lines.split())

    @functools.cached_property
    def _around_function(self) -> SyntaxContext:
        """The context of the function, and of the statement, which a decorator or a guard has for itself."""
        context = self._shared.context
        context.include(nodes_of(self._candidate.node))
        return context

    @functools.cached_property
    def _place(self) -> Place:
        return self._shared.blocks.place_of(self._candidate.node)

    def _beside(self, statement: ast.stmt | None) -> ast.stmt | None:
        if statement is not None:
            self._around.include(nodes_of(statement))
        return statement


_NOWHERE: Position = (0, 0, 0, 0)


def _position(node: ast.AST) -> Position:
    """Return the source range of an expression, or of an expression statement, as the inference records the range."""
    return position_of(node) if isinstance(node, (ast.expr, ast.stmt)) else _NOWHERE  # type: ignore[arg-type]


def _nodes_in(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield a statement and the nodes of its head, outermost first."""
    found: list[ast.AST] = [statement]
    for node in found:  # the list grows during the loop
        yield node
        found += inside_of(node)


@dataclass(frozen=True, slots=True)
class Placed:
    """A finding without its evidence, tied to a node so that edits above the finding can shift its lines.

    ``because`` is the first step of the evidence. ``line`` is the line of ``node`` when the rule matched.
    ``before`` says what synchronizes right before, if anything does; see `Finding.follows`. ``folds`` says that
    compiled code does not block there; see `syncscan.check.compiled`.
    """

    finding: Finding
    because: Evidence | None
    node: ast.stmt | ast.expr
    line: int
    before: Drained | None = None
    folds: bool = False

    def finding_now(self, *, follows: bool) -> Finding:
        """Return the finding with its evidence and with current line numbers; ``follows`` says whether ``before`` holds."""
        down = self.node.lineno - self.line
        found = self.because
        too: tuple[Evidence, ...] = ()
        if isinstance(found, LazyEvidence):
            found, too, *_ = found.reasons
        steps = found.chain() if found is not None else ()
        if len(steps) > MOST_STEPS:
            steps = (*steps[: MOST_STEPS - 1], steps[-1])
        evidence = tuple(Evidence(each.path, each.line, each.text, cell=each.cell) for each in steps)
        line = self.before.by.lineno if follows and self.before is not None else 0
        finding = replace(self.finding, evidence=evidence, passed_too=too, follows=line)
        if not down:
            return finding
        edits = tuple(
            replace(edit, line=edit.line + down, end_line=edit.end_line + down) for edit in finding.fix.edits
        )
        return replace(
            finding,
            line=finding.line + down,
            end_line=finding.end_line + down,
            fix=replace(finding.fix, edits=edits),
        )


@dataclass(frozen=True, slots=True)
class Matched:
    """The findings in one function, and how the function ends.

    ``ends_behind`` is None where the function may leave work queued on the GPU. Otherwise the function synchronizes
    last, provided that its callees of these names do; see `Drained`.
    """

    placed: Sequence[Placed] = ()
    ends_behind: frozenset[str] | None = None


def _anchor(statement: ast.stmt) -> ast.stmt | ast.expr:
    """Return a node of the statement that is in the file itself.

    Decorators and the guards of cases arrive wrapped in statements that no file contains.
    """
    if isinstance(statement, ast.Expr):
        return statement.value
    return statement.test if isinstance(statement, ast.If) else statement


class Matcher:
    """The rules by node type, in the order in which they may report at one place.

    The matcher records a rule that raises in ``defects``, by the function at hand.
    """

    def __init__(self, rules: Sequence[Rule], defects: dict[Function, Exception]) -> None:
        self._rules = rules
        self._by_type: dict[type[ast.AST], list[Rule]] = {}
        self._defects = defects

    def findings_in(self, statements: Statements, function: Function) -> Matched:
        """Return the findings in a function; none where a rule raises, which `defects` then records."""
        candidates = [statement for statement in statements.values() if statement.blocks]
        shared = FunctionSyntax(statements, function)
        try:
            found = [each for candidate in candidates for each in self._findings(candidate, shared)]
            drains = drains_in(function, statements, {position for position, *_ in found})
            # The compiler leaves a function to Python if the graph breaks in a loop.
            breaks = any(in_loop and not placed.folds for _, placed, in_loop in found)
            placed = [
                replace(placed, before=drains.before.get(position), folds=placed.folds and not breaks)
                for position, placed, _ in found
            ]
        except Exception as error:  # (the engine reports it: one line, exit status 2)
            self._defects[function] = error
            return Matched()
        return Matched(placed, drains.end.callees if drains.end is not None else None)

    def _findings(
        self, candidate: Candidate, shared: FunctionSyntax
    ) -> Iterator[tuple[Position, Placed, bool]]:
        """Yield the findings in one statement, each with the range of its node, and whether the node is in a loop.

        At one place, the first rule reports.
        """
        if is_too_deep(*inside_of(candidate.node)):
            raise RecursionError
        facts = StatementFacts(candidate, shared)
        taken: set[Range] = set()
        for node in _nodes_in(candidate.node):
            for rule in self._rules_for(type(node)):
                for match in rule.matches(node, facts):
                    if (place := facts.range_of(match.node)) not in taken:
                        taken.add(place)
                        anchor = _anchor(candidate.node)
                        found = _finding(rule, match, facts, shared.function, anchor)
                        yield _position(match.node), found, facts.in_loop(match.node)

    def _rules_for(self, kind: type[ast.AST]) -> list[Rule]:
        if kind not in self._by_type:
            self._by_type[kind] = [rule for rule in self._rules if issubclass(kind, rule.nodes)]
        return self._by_type[kind]


def _finding(
    rule: Rule, match: Match, facts: StatementFacts, function: Function, anchor: ast.stmt | ast.expr
) -> Placed:
    line, column, end_line, end_column = facts.range_of(match.node)
    because = min(match.because.options, key=_confidence, default=match.because) if match.because else None
    finding = Finding(
        code=rule.code,
        name=rule.name,
        switch=facts.switch,
        path=function.module.path,
        line=line,
        column=column,
        end_line=end_line,
        end_column=end_column,
        function=function.qualname,
        expression=facts.source(match.node),
        message=match.message,
        confidence=_confidence_of(match, because),
        when=When.ONCE if match.is_setup else When.UNKNOWN,
        conditional=facts.in_branch,
        fix=_fix(rule, match, facts),
    )
    first = because.evidence if because is not None else None
    return Placed(finding, first, anchor, anchor.lineno, folds=match.folds)


def _confidence(value: Value) -> Confidence:
    return value.confidence


def _confidence_of(match: Match, because: Value | None) -> Confidence:
    """Return the confidence that the finding of a match reports."""
    if because is None:
        return Confidence.PROVED
    if because.confidence is Confidence.DECLARED:
        return Confidence.INFERRED if match.is_implicit else Confidence.ASSUMED
    return because.confidence


def _fix(rule: Rule, match: Match, facts: StatementFacts) -> Fix:
    rewrite = match.rewrite
    if (
        rewrite is None
        or facts.is_for_torchscript
        # before Python 3.12, an f-string must not contain the quotes of a fix
        or facts.is_in_string(rewrite.old)
        or _loses_comment(rewrite, facts)
    ):
        return Fix(Applicability.NONE, suggestion_of(rule, replace(match, rewrite=None)))
    edit = Edit(*facts.range_of(rewrite.old), rewrite.new)
    return Fix(rewrite.applicability, rewrite.description, (edit,), rewrite.change)


@functools.lru_cache(maxsize=16)
def _names_torchscript(text: str) -> bool:
    return _TORCHSCRIPT.search(text) is not None


# Code for the compiler names these; `torch.jit.trace` runs Python.
_TORCHSCRIPT = re.compile(
    r"\bjit\.(script\w*|ScriptModule|export|ignore|unused|interface|is_scripting)\b|from torch\.jit import"
)


def _loses_comment(rewrite: Rewrite, facts: StatementFacts) -> bool:
    return not _comments_in(facts.edited(rewrite.old, {})) <= _comments_in(rewrite.new)


def _comments_in(code: str) -> set[str]:
    if "#" not in code:
        return set()
    tokens = tokenize.generate_tokens(io.StringIO(f"({code}\n)").readline)
    return {token.string for token in tokens if token.type == tokenize.COMMENT}

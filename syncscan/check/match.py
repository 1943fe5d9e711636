"""Candidate statements to findings: each is parsed by libcst, and the rules are asked about its nodes."""

from __future__ import annotations

import ast
import functools
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from syncscan.check.blocks import Place, bound_in, place_of
from syncscan.check.infer.solve.provenance import MOST_STEPS
from syncscan.check.infer.solve.public import LazyEvidence
from syncscan.check.infer.solve.record import Candidate, Position, Statements
from syncscan.check.infer.source.index import Function
from syncscan.check.infer.transfer.conditions import Bound
from syncscan.check.nesting import is_too_deep
from syncscan.model import UNKNOWN, Applicability, Confidence, Edit, Evidence, Finding, Fix, Kind, Value
from syncscan.ops import Case, by_parameter
from syncscan.rule import Match, Rewrite, Rule, suggestion_of
from syncscan.surroundings import Surroundings, statements_of

_COMPOUND = (
    ast.If,
    ast.While,
    ast.For,
    ast.AsyncFor,
    ast.With,
    ast.AsyncWith,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
)


BoundIn = Callable[[tuple[ast.stmt, ...]], set[str]]  # `bound_in`, or what it said before


class StatementFacts:
    """What the inference knows of one statement, asked by the nodes that libcst made of it."""

    def __init__(
        self, candidate: Candidate, statements: Statements, function: Function, bound: BoundIn
    ) -> None:
        module = function.module
        self._candidate = candidate
        self._statements = statements
        self._function = function
        self._bound_in = bound
        self._lines = module.lines.split()
        self._start = _start(candidate.node, self._lines)
        self.tree = cst.parse_module(head_of(candidate.node, self._lines))
        wrapper = MetadataWrapper(self.tree, unsafe_skip_copy=True)
        self._positions = wrapper.resolve(PositionProvider)

    def of(self, node: cst.CSTNode) -> Value:
        """Where the value of an expression lives; that of a generator is known by what it yields."""
        if isinstance(node, cst.GeneratorExp):  # libcst has it without the parentheses of its call
            return Value(Kind.LIST, element=self.of(node.elt))
        return self._candidate.values.get(self._position(node), UNKNOWN)

    def name_of(self, node: cst.CSTNode) -> str:
        """The full name of a function that is called."""
        return self._candidate.names.get(self._position(node), "")

    def blocks(self, node: cst.CSTNode) -> Case | None:
        """The case of the operation table that applies to a call or subscript."""
        return self._candidate.cases.get(self._position(node))

    def queued(self, node: cst.CSTNode) -> Case | None:
        """The case of a copy that would wait, were it not asked to go on while the GPU does it."""
        return self._candidate.queued.get(self._position(node))

    def behind(self, node: cst.CSTNode) -> Iterator[tuple[cst.CSTNode, StatementFacts]]:  # noqa: ARG002
        """The statements that run after the one of a node, in order, and what is known of each."""
        place = self._place
        for statement in (*place.behind, *place.again):
            candidate = self._statements.get((statement.lineno, statement.col_offset))
            if candidate is None:
                return
            try:
                facts = StatementFacts(candidate, self._statements, self._function, self._bound_in)
            except cst.ParserSyntaxError:
                return
            yield statements_of(facts.tree.body[0])[0], facts
            if isinstance(statement, _COMPOUND) and statement not in place.again:
                return

    def line(self, node: cst.CSTNode) -> int:
        """The line of its file on which a node begins."""
        return self.range_of(node)[0]

    def drifts_from(self, node: cst.CSTNode) -> Value | None:
        """For a host array that the project only ever adds to: the GPU tensor of which it is a mirror by its name."""
        return self._candidate.mirrors.get(self._position(node))

    def wait_inside(self, node: cst.CSTNode) -> Value | None:
        """For an attribute that is a property whose body waits: the value it waits for."""
        return self._candidate.waits.get(self._position(node))

    def group(self, call: cst.Call) -> Value:
        """The process group that a collective is for: the default one where the call names none."""
        bound = self._candidate.calls.get(self._position(call))
        return (bound.get("group") if bound is not None else None) or UNKNOWN

    def argument(self, call: cst.Call, name: str) -> cst.BaseExpression | None:
        """The argument that a call of a known operation binds to a parameter, if it is given in so many words."""
        bound = self._candidate.calls.get(self._position(call))
        if bound is None:
            return None
        positional = [
            arg.value for arg in takewhile(lambda arg: not arg.star, call.args) if arg.keyword is None
        ]
        if isinstance(call.func, cst.Attribute) and self._is_method(call.func, bound):
            positional.insert(0, call.func.value)
        keywords = {arg.keyword.value: arg.value for arg in call.args if arg.keyword is not None}
        given, _ = by_parameter(bound.operation.args, positional, keywords)
        return given.get(name, (None,))[0]

    def _is_method(self, function: cst.Attribute, bound: Bound) -> bool:
        """Whether what stands before the dot is the first operand; in `torch.Tensor.to(b, "cuda")` it is not."""
        operands = bound.operands()
        return bool(operands) and operands[0] in self.of(function.value).options

    def source(self, node: cst.CSTNode) -> str:
        """The text of a node; libcst writes an annotation only where it knows what stands before it."""
        return self.tree.code_for_node(node.annotation if isinstance(node, cst.Annotation) else node)

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """The node around a node; None around the statement."""
        return self._around.parent(node)

    def statement(self, node: cst.CSTNode) -> cst.CSTNode:
        """The statement in which a node stands."""
        return self._around.statement(node)

    def function(self, node: cst.CSTNode) -> str:  # noqa: ARG002 (all nodes of a statement are in one)
        """The qualified name of the function in which a node stands."""
        return self._function.qualname

    def in_loop(self, node: cst.CSTNode) -> bool:
        """Whether a loop or a comprehension of the function around it runs a node again and again."""
        in_lambda = isinstance(self._function.node, ast.Lambda)
        return self._around.in_loop(node) or (self._place.in_loop and not in_lambda)

    def made_in_loop(self, node: cst.CSTNode) -> bool:
        """Whether an expression reads what the body of the innermost loop around it sets."""
        if self._around.in_loop(node) or isinstance(self._function.node, ast.Lambda):
            return False
        return not self._around.paths_in(node).isdisjoint(self._bound_in(self._place.loop))

    def before(self, node: cst.CSTNode) -> cst.CSTNode | None:  # noqa: ARG002 (all nodes are in one statement)
        """The statement that stands before the one of a node, in the same body."""
        return self._parsed(self._place.before)

    def after(self, node: cst.CSTNode) -> cst.CSTNode | None:  # noqa: ARG002 (all nodes are in one statement)
        """The statement that stands behind the one of a node, in the same body."""
        return self._parsed(self._place.after)

    def raises(self, node: cst.CSTNode) -> bool:  # noqa: ARG002 (all nodes are in one statement)
        """Whether the statement of a node only decides on an error: an `assert`, or an `if` that does nothing but raise."""
        statement = self._candidate.node
        if isinstance(statement, ast.If):
            return isinstance(statement.body[0], ast.Raise) and not statement.orelse
        return isinstance(statement, ast.Assert)

    def used_at_once(self, node: cst.CSTNode) -> bool:
        """Whether the value of an expression is used where it stands, or by the next statement."""
        return self._around.used_at_once(node, self.after(node))

    @functools.cached_property
    def _around(self) -> Surroundings:
        return Surroundings(self.tree)

    @functools.cached_property
    def _place(self) -> Place:
        return place_of(self._candidate.node, self._function.module.tree)

    def _parsed(self, node: ast.stmt | None) -> cst.CSTNode | None:
        if node is None:
            return None
        try:
            return statements_of(cst.parse_module(head_of(node, self._lines)).body[0])[0]
        except cst.ParserSyntaxError:
            return None

    def range_of(self, node: cst.CSTNode) -> tuple[int, int, int, int]:
        """Line, column, end line and end column of a node in its file, 1-based, in characters."""
        found = self._positions[node]
        assert isinstance(found, CodeRange)
        line, shift = self._start
        return (
            found.start.line + line - 1,
            found.start.column + (shift if found.start.line == 1 else 0) + 1,
            found.end.line + line - 1,
            found.end.column + (shift if found.end.line == 1 else 0) + 1,
        )

    def _position(self, node: cst.CSTNode) -> Position:
        line, column, end_line, end_column = self.range_of(node)
        return (
            line,
            _bytes_before(self._lines[line - 1], column - 1),
            end_line,
            _bytes_before(self._lines[end_line - 1], end_column - 1) if end_line <= len(self._lines) else 0,
        )


def _expressions_of(node: ast.stmt) -> Iterator[ast.AST]:
    """What a statement consists of, without the statements in it."""
    inside = (ast.stmt, ast.match_case, ast.excepthandler)
    return (child for child in ast.iter_child_nodes(node) if not isinstance(child, inside))


def _nodes(*roots: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The roots and every node in them, outermost first."""
    queue = deque(roots)
    while queue:
        node = queue.popleft()
        yield node
        queue.extend(node.children)


def _bytes_before(line: str, column: int) -> int:
    return column if line.isascii() else len(line[:column].encode())


def _characters_before(line: str, column: int) -> int:
    return column if line.isascii() else len(line.encode()[:column].decode(errors="replace"))


def _start(node: ast.stmt, lines: Sequence[str]) -> tuple[int, int]:
    """The line on which the text of `head_of` begins, and how many characters of it were cut off."""
    column = _characters_before(lines[node.lineno - 1], node.col_offset)
    return node.lineno, column + (2 if _is_elif(node, lines) else 0)


def _is_elif(node: ast.stmt, lines: Sequence[str]) -> bool:
    return isinstance(node, ast.If) and lines[node.lineno - 1].encode()[node.col_offset :].startswith(b"elif")


def head_of(node: ast.stmt, lines: Sequence[str]) -> str:
    """The text of a statement as it stands; the body of a compound one is replaced by ``pass``."""
    first, cut = _start(node, lines)
    last, end = _end_of_head(node, lines)
    text = [*lines[first - 1 : last - 1], end]
    text[0] = text[0][cut:]
    return "\n".join(text) + "\n"


def _end_of_head(node: ast.stmt, lines: Sequence[str]) -> tuple[int, str]:
    """The last line of the text of `head_of`: its number, and what stands there."""
    if isinstance(node, ast.Match):  # whose guards are statements of their own
        return _first_case(node, lines), "  case _: pass"
    if not isinstance(node, _COMPOUND):
        assert node.end_lineno is not None
        last = lines[node.end_lineno - 1]
        return node.end_lineno, last[: _characters_before(last, node.end_col_offset or 0)]
    inner = node.body[0]
    line = min([inner.lineno, *(d.lineno for d in getattr(inner, "decorator_list", []))])
    before = lines[line - 1][: _characters_before(lines[line - 1], inner.col_offset)]
    return line, "  pass" if line > node.lineno and not before.strip() else before + "pass"


def _first_case(node: ast.Match, lines: Sequence[str]) -> int:
    line = node.cases[0].pattern.lineno
    while not lines[line - 1].lstrip().startswith("case"):
        line -= 1
    return line


@dataclass(frozen=True, slots=True)
class Placed:
    """A finding without its evidence, what that begins with, a node of its statement, and the line on which that stood."""

    finding: Finding
    because: Evidence | None
    node: ast.stmt | ast.expr
    line: int

    def finding_now(self) -> Finding:
        """The finding and its evidence, with the lines that they have now."""
        down = self.node.lineno - self.line
        found = self.because
        too: tuple[Evidence, ...] = ()
        if isinstance(found, LazyEvidence):
            found, too, *_ = found.reasons
        steps = found.chain() if found is not None else ()
        if len(steps) > MOST_STEPS:
            steps = (*steps[: MOST_STEPS - 1], steps[-1])
        evidence = tuple(Evidence(each.path, each.line, each.text, cell=each.cell) for each in steps)
        finding = replace(self.finding, evidence=evidence, passed_too=too)
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


def _anchor(statement: ast.stmt) -> ast.stmt | ast.expr:
    """A node of the file itself: decorators and the guards of cases are read as statements that are in no file."""
    if isinstance(statement, ast.Expr):
        return statement.value
    return statement.test if isinstance(statement, ast.If) else statement


class Matcher:
    """Asks every rule about the nodes that it names, the one first that speaks where several match.

    Notes in ``defects`` where one fails.
    """

    def __init__(self, rules: Sequence[Rule], defects: dict[Function, Exception]) -> None:
        self._rules = rules
        self._by_type: dict[type[cst.CSTNode], list[Rule]] = {}
        self._defects = defects

    def findings_in(self, statements: Statements, function: Function) -> list[Placed]:
        """The findings in a function; none where a rule fails, which is noted."""
        candidates = [statement for statement in statements.values() if statement.blocks]
        once = functools.cache(bound_in)  # many findings may stand in the body of one loop
        try:
            return [
                placed
                for candidate in candidates
                for placed in self._findings(candidate, statements, function, once)
            ]
        except Exception as error:  # (the engine reports it: one line, exit status 2)
            self._defects[function] = error
            return []

    def _findings(
        self, candidate: Candidate, statements: Statements, function: Function, bound: BoundIn
    ) -> Iterator[Placed]:
        """The findings in one statement; at one place, the first rule speaks."""
        if is_too_deep(*_expressions_of(candidate.node)):
            raise RecursionError
        try:
            facts = StatementFacts(candidate, statements, function, bound)
        except cst.ParserSyntaxError:
            return  # newer syntax than libcst reads: the statement stays unreported
        taken: set[tuple[int, int, int, int]] = set()
        for node in _nodes(*facts.tree.body):
            for rule in self._rules_for(type(node)):
                match = rule.match(node, facts)
                if match is not None and (place := facts.range_of(match.node)) not in taken:
                    taken.add(place)
                    yield _finding(rule, match, facts, function, _anchor(candidate.node))

    def _rules_for(self, kind: type[cst.CSTNode]) -> list[Rule]:
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
        path=function.module.path,
        line=line,
        column=column,
        end_line=end_line,
        end_column=end_column,
        function=function.qualname,
        expression=facts.source(match.node),
        message=match.message,
        confidence=because.confidence if because is not None else Confidence.PROVED,
        fix=_fix(rule, match, facts),
    )
    return Placed(finding, because.evidence if because is not None else None, anchor, anchor.lineno)


def _confidence(value: Value) -> Confidence:
    return value.confidence


def _fix(rule: Rule, match: Match, facts: StatementFacts) -> Fix:
    rewrite = match.rewrite
    if rewrite is None or _is_in_string(rewrite.old, facts.tree) or _loses_comment(rewrite):
        return Fix(Applicability.NONE, suggestion_of(rule, replace(match, rewrite=None)))
    old, new = rewrite.old, rewrite.new
    if isinstance(old, cst.BaseExpression) and isinstance(new, cst.BaseExpression) and old.lpar:
        new = new.with_changes(lpar=(), rpar=())  # the range of a node leaves its parentheses out
    edit = Edit(*facts.range_of(rewrite.old), facts.tree.code_for_node(new))
    return Fix(rewrite.applicability, rewrite.description, (edit,))


def _is_in_string(node: cst.CSTNode, tree: cst.Module) -> bool:
    """Whether a node stands in an f-string, which may not hold the quotes that a fix writes."""
    strings = [string for string in _nodes(tree) if isinstance(string, cst.FormattedString)]
    return any(inner is node for inner in _nodes(*strings))


def _loses_comment(rewrite: Rewrite) -> bool:
    before, after = (
        {inner.value for inner in _nodes(node) if isinstance(inner, cst.Comment)}
        for node in (rewrite.old, rewrite.new)
    )
    return not before <= after

"""The rule code of a recorded synchronization: the rules run on the exact expression that blocked.

A trace knows the expression, but not the devices of its operands. `explain` therefore tries each case of the
operation table in which the call may have blocked. Under a case, its operands are assumed to satisfy the
case. Every other operand is assumed to be a GPU tensor, unless the operand is a literal.
A declaration in the file, such as `names: list[str]`, counts too, if a rule matches with the declaration.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from syncscan.model import Device, Kind, Value
from syncscan.ops import Case, Effect, Operation, OperationTable, Term, by_parameter, load_table
from syncscan.ops.inferred import is_of
from syncscan.ops.kinds import KINDS, asks
from syncscan.rule import by_precedence, rule_book, suggestion_of
from syncscan.syntax.context import SyntaxContext, raises
from syncscan.syntax.names import dotted_name
from syncscan.syntax.stores import stores_in
from syncscan.trace.declared import declared
from syncscan.trace.parsed import ParsedModule, parse

_GPU = Value(Kind.TENSOR, Device.CUDA)
_CPU = Value(Kind.TENSOR, Device.CPU)
_NUMBER = Value(Kind.NUMBER, Device.CPU)
_NCCL = Value(Kind.INSTANCE, payload="torch.distributed.ProcessGroupNCCL")

# The effects that the direction of the last copy before the synchronization makes likely.
_EFFECTS = {
    "in": {Effect.UPLOAD},
    "out": {Effect.SCALAR, Effect.SHAPE, Effect.DOWNLOAD, Effect.CHECK, Effect.ALWAYS},
}
# The values assumed for operands: of these, the first that satisfies the most of the required kinds.
_EXAMPLES = (
    _GPU,
    Value(Kind.TENSOR, Device.CUDA, dtype="bool"),
    Value(Kind.TENSOR, Device.CUDA, ndim=0),
    Value(Kind.LIST, element=_NUMBER),
    Value(Kind.LIST, element=_GPU),
    Value(Kind.SLICE, items=(_GPU,)),
    _CPU,
    Value(Kind.TENSOR, Device.CPU, dtype="bool"),
    Value(Kind.TENSOR, Device.CPU, ndim=0),
    Value(Kind.TENSOR, Device.CPU, pinned=False),
    Value(Kind.TENSOR, Device.CPU, pinned=True),
    Value(Kind.DEVICE, Device.CUDA),
    Value(Kind.DEVICE, Device.CPU),
    Value(Kind.INSTANCE, Device.CPU),
    _NUMBER,
)
_LITERALS: dict[type[object], Value] = {  # keyed by the type of the constant or of the node
    int: _NUMBER,
    float: _NUMBER,
    complex: _NUMBER,
    bool: _NUMBER,
    str: Value(Kind.STRING),
    bytes: Value(Kind.STRING),
    ast.JoinedStr: Value(Kind.STRING),
    ast.List: Value(Kind.LIST, element=_NUMBER),
    ast.Tuple: Value(Kind.TUPLE, element=_NUMBER),
    ast.ListComp: Value(Kind.LIST, element=_NUMBER),
    ast.GeneratorExp: Value(Kind.LIST, element=_GPU),
}
_MADE_BY = dict.fromkeys(
    ("builtins.map", "builtins.filter", "builtins.zip"), Value(Kind.LIST, element=_GPU)
)  # by function


def classify(
    source_text: str,
    line: int,
    column: int | None,
    end_line: int | None,
    end_column: int | None,
    api: str,
    table: OperationTable | None = None,
) -> str | None:
    """Return the code of the rule that explains a synchronization at this range, or None; see `explain`."""
    found = explain(source_text, line, column, end_line, end_column, api, table)
    return found[0] if found is not None else None


def explain(
    source_text: str,
    line: int,
    column: int | None,
    end_line: int | None,
    end_column: int | None,
    api: str,
    table: OperationTable | None = None,
) -> tuple[str, str] | None:
    """Return the rule code and the suggestion for a synchronization at this range, or None where no rule matches.

    Lines and columns are 1-based, in characters, and the end is exclusive. Columns are None where the
    interpreter has none (before Python 3.11); then the line decides. ``api`` is the CUDA call. The suffix
    ":in" or ":out" says that a copy towards the GPU or the host came immediately before. ``table`` is the
    operation table of a project that declares operations of its own.
    """
    module = parse(source_text)
    if module is None:
        return None
    name, _, direction = api.partition(":")
    if column is None or end_line is None or end_column is None:
        nodes = module.on_line(line)
    else:
        nodes = module.around((line, column, end_line, end_column))
    try:
        return _explanation(nodes, module, name, direction, table or load_table())
    except RecursionError:  # the rules read an operand inside an operand by a call inside a call
        return None


def _explanation(
    nodes: Sequence[ast.AST], module: ParsedModule, api: str, direction: str, table: OperationTable
) -> tuple[str, str] | None:
    """Return what the rules in common say of the first node that any of them explains."""
    target = _target_in(nodes)
    for node in nodes:
        if node is target:  # the statement writes the target, and does not read it
            continue
        answers = (_match_of(each, target, module, api, direction, table) for each in _inside(node))
        if explained := {answer for answer in answers if answer is not None}:
            return _in_common(explained)
    return None


def _target_in(nodes: Sequence[ast.AST]) -> ast.AST | None:
    """Return the target of an assignment or a loop that is among some nodes, or None."""
    targets = [target for node in nodes for target, _ in stores_in(node)]
    return next((target for target in targets if any(target is node for node in nodes)), None)


def _inside(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that the interpreter may mean by the place of one: before Python 3.12, a value of an f-string and a test."""
    if isinstance(node, ast.JoinedStr):
        yield from (each for each in node.values if isinstance(each, ast.FormattedValue))
        return
    yield node
    yield from getattr(node, "generators", ())
    if isinstance(node, (ast.If, ast.While, ast.IfExp, ast.Assert)):
        yield from (
            each for each in ast.walk(node.test) if isinstance(each, (ast.UnaryOp, ast.BoolOp, ast.Compare))
        )


def _in_common(explained: set[tuple[str, str]]) -> tuple[str, str] | None:
    """Return what some explanations share: where the suggestions differ, the general one of their code; None for several codes."""
    first, *others = explained
    if not others:
        return first
    return (first[0], rule_book()[first[0]].instead) if {code for code, _ in others} == {first[0]} else None


def _match_of(
    node: ast.AST,
    target: ast.AST | None,
    module: ParsedModule,
    api: str,
    direction: str,
    table: OperationTable,
) -> tuple[str, str] | None:
    asked_with = (node, target, module, api, direction, table)
    known = (_possible_facts(*asked_with, declares=declares) for declares in (True, False))
    for facts in chain.from_iterable(known):  # a declaration may be wrong, and the synchronization is not
        for rule in by_precedence():
            for asked in {id(n): n for n in (node, facts.subject) if isinstance(n, rule.nodes)}.values():
                for match in rule.matches(asked, facts):
                    return rule.code, suggestion_of(rule, match)
    return None


def _possible_facts(
    node: ast.AST,
    target: ast.AST | None,
    module: ParsedModule,
    api: str,
    direction: str,
    table: OperationTable,
    *,
    declares: bool,
) -> Iterator[RuntimeFacts]:
    subject, operation, stored = _operation_of(node, target, module, api, table)
    if subject is not None and operation is not None:
        likely = _EFFECTS.get(direction, set(Effect))
        # As in the check, tensors are assumed to be dense.
        dense = [
            case for case in operation.blocks if not any("layout" in KINDS.get(t.kind, "") for t in case.when)
        ]
        cases = _by_likelihood(subject, stored, dense, module)
        for case in sorted(cases, key=lambda case: case.effect not in likely):
            facts = RuntimeFacts(module, api, table, subject, operation, case, stored, declares=declares)
            if facts.is_possible():
                yield facts
    if subject is None or isinstance(node, (ast.If, ast.While, ast.Compare)):
        yield RuntimeFacts(module, api, table, declares=declares)


def _operation_of(
    node: ast.AST, target: ast.AST | None, module: ParsedModule, api: str, table: OperationTable
) -> tuple[ast.AST | None, Operation | None, ast.expr | None]:
    """Return the call or subscript behind a node, its entry in the table, and the expression of the stored value.

    A statement may have several targets; ``target`` is the blocking one.
    """
    if isinstance(node, ast.Call):
        return node, table.find(module.name_of(node.func, api)), None
    if isinstance(node, ast.Subscript):
        return node, table.find("torch.Tensor.__getitem__"), None
    for place, value in stores_in(node):
        if place is target:
            return place, table.find("torch.Tensor.__setitem__"), value
    return None, None, None


def _by_likelihood(
    subject: ast.AST, stored: ast.expr | None, cases: Sequence[Case], module: ParsedModule
) -> list[Case]:
    """Return the cases in their order, but with the cases first that the source text makes likely.

    A stored number literal is the operand that is uploaded, and a stored value of another form is more likely a tensor.
    An item gets a number more likely where the value is unpacked or iterated.
    """
    scalar_index = isinstance(subject, ast.Subscript) and _reads_a_scalar(subject.slice, module)
    literal = None if stored is None else _literal(stored)
    number = stored is None if literal is None else literal.kind is Kind.NUMBER

    def rank(case: Case) -> int:
        about_number = any(term.arg == "value" and term.kind == "number" for term in case.when)
        if (scalar_index and case.effect is Effect.SCALAR) or (number and about_number):
            return 0
        return 2 if about_number else 1

    return sorted(cases, key=rank)


_SCALAR_INDEX = re.compile(r"(^|[-._])(i|j|k|n|pos|index|idx|step|len)\d*$")


_LIKE_A_MASK = re.compile(r"mask|valid|keep|kept|active|alive|visible|select|ignore|done|(^|[._])(is|has)_")


def _reads_a_scalar(index: ast.expr, module: ParsedModule) -> bool:
    """Return whether a part of an index is likely a scalar: it is named like one, or is an element of a tensor, and nothing is named like a mask.

    An index of positions blocks nobody, so a part that is ``lens[row]`` is a scalar or a mask.
    """
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    texts = [*map(module.around_each.text.bare_text_of, parts)]
    if any(map(_LIKE_A_MASK.search, texts)):
        return False
    return any(map(_SCALAR_INDEX.search, texts)) or any(map(_is_element, parts))


def _is_element(part: ast.expr) -> bool:
    """Return whether a part of an index is one element, or one row, of something: not what stands under a text, or in a slice."""
    if not isinstance(part, ast.Subscript):
        return False
    inner = part.slice.elts if isinstance(part.slice, ast.Tuple) else [part.slice]
    return all(isinstance(each, (ast.Name, ast.Attribute, ast.BinOp)) or _is_number(each) for each in inner)


def _is_number(node: ast.expr) -> bool:
    literal = _literal(node)
    return literal is not None and literal.kind is Kind.NUMBER


class RuntimeFacts:
    """The answers to `syncscan.rule.Facts` for an expression that blocked, under the assumptions of one case."""

    def __init__(
        self,
        module: ParsedModule,
        api: str,
        table: OperationTable,
        subject: ast.AST | None = None,
        operation: Operation | None = None,
        case: Case | None = None,
        stored: ast.expr | None = None,
        *,
        declares: bool = False,
    ) -> None:
        self._module = module
        self._api = api
        self._table = table
        self.subject = subject
        self._operation = operation
        self._case = case
        self._stored = stored
        self._declares = declares
        self._assumed = self._assume()

    def of(self, node: ast.AST) -> Value:
        """Return the value that the case assumes for an operand, the value of a literal, or a GPU tensor."""
        name = self.name_of(node.func) if isinstance(node, ast.Call) else ""
        if name in _MADE_BY:
            return _MADE_BY[name]
        if id(node) in self._assumed:
            return self._assumed[id(node)]
        if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not):
            return self.of(node.operand)
        if isinstance(node, ast.Constant):
            return Value(Kind.NONE) if node.value is None else _LITERALS.get(type(node.value), _GPU)
        if name.startswith("builtins.str."):
            return Value(Kind.STRING)
        return _LITERALS.get(type(node)) or self._said(node) or _GPU

    def _said(self, node: ast.AST) -> Value | None:
        """Return what the text says of an operand: a literal, or what the file declares."""
        literal = _literal(node)
        return declared(node, self._module) if literal is None and self._declares else literal

    def name_of(self, node: ast.AST) -> str:
        """Return the full name of a function; a method of anything but a module counts as a tensor method."""
        return self._module.name_of(node, self._api)

    def blocks(self, node: ast.AST) -> Case | None:
        """Return the assumed case for the call or subscript that the case is about; None for other nodes."""
        return self._case if node is self.subject else None

    def queued(self, node: ast.AST) -> Case | None:  # noqa: ARG002
        """Return None: the traced call did block, so no flag let the copy run asynchronously."""
        return None

    def behind(self, node: ast.AST) -> Iterator[tuple[ast.AST, RuntimeFacts]]:  # noqa: ARG002
        """Return no statements: only rules about a missing synchronization ask, and a trace records real ones."""
        return iter(())

    def line(self, node: ast.AST) -> int:
        """Return the line of its file on which a node begins, 1-based."""
        return self._module.line(node)

    def drifts_from(self, node: ast.AST) -> Value | None:  # noqa: ARG002
        """Return None: a stale host mirror causes no synchronization."""
        return None

    def wait_inside(self, node: ast.AST) -> Value | None:  # noqa: ARG002
        """Return None: a trace blames the line in the property's body itself."""
        return None

    def operand(self, node: ast.AST, name: str) -> Value:
        """Return the value that the case assumes for a parameter; of a collective, an NCCL group, since another would not have blocked."""
        if name == "group":
            return _NCCL
        when = self._case.when if self._case is not None and node is self.subject else ()
        return _example(*(term.kind for term in when if term.arg == name and not term.negated))

    def argument(self, call: ast.Call, name: str) -> ast.expr | None:
        """Return the argument that a call of a known operation binds to a parameter, or None."""
        operation = self._table.find(self.name_of(call.func))
        return None if operation is None else self._given(call, operation).get(name, (None,))[0]

    def source(self, node: ast.AST) -> str:
        """Return the source text of a node."""
        return self._module.around_each.text.text_of(node)

    def edited(self, node: ast.AST, edits: Mapping[ast.AST, str]) -> str:
        """Return the source text of a node without the parentheses around it, with the nodes in ``edits`` replaced."""
        return self._module.around_each.text.edited(node, edits)

    def parent(self, node: ast.AST) -> ast.AST | None:
        """Return the parent of a node within its statement, or None for the statement itself."""
        return self._module.around_each.parent(node)

    def statement(self, node: ast.AST) -> ast.AST:
        """Return the statement that contains a node."""
        return self._module.around_each.statement(node)

    def function(self, node: ast.AST) -> str:
        """Return the qualified name of the function that contains a node."""
        return self._module.around_each.function(node)

    def in_module(self, node: ast.AST) -> bool:
        """Return whether the class around a node has a base that is named as modules are."""
        around = self._module.around_each.up(node)
        bases = next((each.bases for each in around if isinstance(each, ast.ClassDef)), [])
        return any(dotted_name(each).endswith("Module") for each in bases)

    def in_loop(self, node: ast.AST) -> bool:
        """Return whether a loop or comprehension of the enclosing function evaluates a node repeatedly."""
        return self._module.around_each.in_loop(node)

    def made_in_loop(self, node: ast.AST) -> bool:
        """Return whether an expression reads a name that the body of the innermost enclosing loop sets."""
        return self._module.around_each.made_in_loop(node)

    def before(self, node: ast.AST) -> ast.AST | None:
        """Return the statement before the statement of a node in the same body, or None."""
        return self._module.around_each.beside(node, -1)

    def after(self, node: ast.AST) -> ast.AST | None:
        """Return the statement after the statement of a node in the same body, or None."""
        return self._module.around_each.beside(node, 1)

    def raises(self, node: ast.AST) -> bool:
        """Return whether the statement of a node is an `assert`, or an `if` that begins with a raise and has no `else`."""
        return raises(self.statement(node))

    def used_at_once(self, node: ast.AST) -> bool:
        """Return whether the statement of an expression, or the next statement, uses the value of the expression."""
        return self._module.around_each.used_at_once(node, self.after(node))

    def around(self, node: ast.AST) -> SyntaxContext:  # noqa: ARG002 (that of the file)
        """Return the syntax of the file of a node."""
        return self._module.around_each

    def is_possible(self) -> bool:
        """Return whether the source text contradicts no term of the case.

        At least one operand that the text gives for a term must be able to satisfy the term.
        """
        return all(
            any(_may_be(node, term, self._said(node)) for node in nodes) if nodes else _may_be_left_out(term)
            for term, nodes in self._terms()
        )

    def _assume(self) -> dict[int, Value]:
        kinds: dict[int, tuple[str, ...]] = {}
        for term, nodes in self._terms():
            if term.test == "is" and not term.negated:
                kinds.update(
                    (id(n), (*kinds.get(id(n), ()), term.kind)) for n in nodes if self._said(n) is None
                )
        return {node: _example(*of_node) for node, of_node in kinds.items()}

    def _terms(self) -> Iterator[tuple[Term, tuple[ast.AST, ...]]]:
        if self._case is None or self._operation is None or self.subject is None:
            return
        bound = self._operands(self.subject, self._operation)
        for term in self._case.when:
            yield term, bound.get(term.arg, ())

    def _operands(self, subject: ast.AST, operation: Operation) -> Mapping[str, tuple[ast.AST, ...]]:
        if isinstance(subject, ast.Call):
            return self._given(subject, operation)
        assert isinstance(subject, ast.Subscript)
        index = subject.slice
        indices = tuple(index.elts) if isinstance(index, ast.Tuple) else (index,)
        found: dict[str, tuple[ast.AST, ...]] = {"input": (subject.value,), "index": indices}
        if self._stored is not None:
            found["value"] = (self._stored,)
        return found

    def _given(self, call: ast.Call, operation: Operation) -> dict[str, tuple[ast.expr, ...]]:
        """Return the operands of a call by parameter."""
        positional = [each.value if isinstance(each, ast.Starred) else each for each in call.args]
        if isinstance(call.func, ast.Attribute) and not self._module.is_imported(call.func.value):
            positional.insert(0, call.func.value)
        keywords = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
        return by_parameter(operation.args, positional, keywords)[0]


def _literal(node: ast.AST) -> Value | None:
    if isinstance(node, ast.Constant):
        truth = node.value if isinstance(node.value, bool) else None
        is_word = node.value is None or truth is not None
        return replace(_NUMBER, payload=truth) if is_word else _LITERALS.get(type(node.value))
    if isinstance(node, ast.UnaryOp):
        return _literal(node.operand)
    return _LITERALS.get(type(node))


def _may_be_left_out(term: Term) -> bool:
    """Return whether a term can hold without an operand in the text, such as the default device or both sides of a store."""
    if term.test != "is" or term.negated or term.arg in {"any", "place", "value"}:
        return True
    return asks(term.kind, {"names"})


def _may_be(node: ast.AST, term: Term, literal: Value | None) -> bool:
    """Return whether the text of an operand allows a term to hold; ``literal`` is what the text says of its value."""
    if term.test != "is" or term.negated:
        return True
    if isinstance(node, ast.Slice):
        return asks(term.kind, {"is slice"})
    said = asks(term.kind, {"is slice", "true"})  # the source text would show these
    if literal is None:
        return not said
    verdict = is_of(term.kind, replace(literal, element=None))  # a list may hold anything
    return bool(verdict) if said else verdict is not False


@functools.cache
def _example(*kinds: str) -> Value:
    return max(_EXAMPLES, key=lambda value: sum(is_of(kind, value) is True for kind in kinds))

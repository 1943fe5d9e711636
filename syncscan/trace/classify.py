"""The rule code of a wait: the rule book, run on the exact expression that blocked.

A trace knows that the expression blocked and not where its operands live. So each case of the
operation table in which it could have blocked is tried: its operands are taken to be what the case
asks for, and everything else that is no literal is taken to be a tensor on the GPU.
"""

from __future__ import annotations

import ast
import builtins
import functools
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from syncscan.model import Device, Kind, Value
from syncscan.ops import Case, Effect, Operation, OperationTable, Term, by_parameter, load_table
from syncscan.ops.inferred import is_of
from syncscan.ops.kinds import KINDS, asks
from syncscan.rule import by_precedence, suggestion_of
from syncscan.surroundings import Surroundings

Range = tuple[int, int, int, int]

_GPU = Value(Kind.TENSOR, Device.CUDA)
_CPU = Value(Kind.TENSOR, Device.CPU)
_NUMBER = Value(Kind.NUMBER, Device.CPU)
_NCCL = Value(Kind.INSTANCE, payload="torch.distributed.ProcessGroupNCCL")

# What the last copy before the wait makes likely: one towards the GPU, or towards the host.
_EFFECTS = {
    "in": {Effect.UPLOAD},
    "out": {Effect.SCALAR, Effect.SHAPE, Effect.DOWNLOAD, Effect.CHECK, Effect.ALWAYS},
}
# What an operand of a kind is taken to be: the first of these that is surely of it, and of the most others asked.
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
    _NUMBER,
)
_LITERALS: dict[type[cst.CSTNode], Value] = {
    cst.Integer: _NUMBER,
    cst.Float: _NUMBER,
    cst.Imaginary: _NUMBER,
    cst.SimpleString: Value(Kind.STRING),
    cst.FormattedString: Value(Kind.STRING),
    cst.ConcatenatedString: Value(Kind.STRING),
    cst.List: Value(Kind.LIST, element=_NUMBER),
    cst.Tuple: Value(Kind.TUPLE, element=_NUMBER),
    cst.ListComp: Value(Kind.LIST, element=_NUMBER),
}
_WAITERS = {
    "cudaEventSynchronize": "torch.cuda.Event",
    "cudaStreamSynchronize": "torch.cuda.Stream",
    "cudaDeviceSynchronize": "torch.cuda",
}


def classify(
    source_text: str,
    line: int,
    column: int | None,
    end_line: int | None,
    end_column: int | None,
    api: str,
    table: OperationTable | None = None,
) -> str | None:
    """The code of the rule that explains a wait at this range, or None; see `explain`."""
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
    """Return the code of the rule that explains a wait at this range, and what it suggests there; None where no rule does.

    Lines and columns are 1-based, in characters, the end exclusive; columns are None where the
    interpreter gives none (before Python 3.11): then the line decides. ``api`` is the CUDA call, with
    ":in" or ":out" behind it where a copy towards the GPU or the host came right before. ``table`` is the
    operation table, where a project has declared operations of its own.
    """
    module = _parse(source_text)
    if module is None:
        return None
    name, _, direction = api.partition(":")
    if column is None or end_line is None or end_column is None:
        candidates = module.on_line(line)
    else:
        candidates = module.around((line, column, end_line, end_column))
    targets = [t.target for node in candidates if isinstance(node, cst.Assign) for t in node.targets]
    here = {id(node) for node in candidates}
    target = next((target for target in targets if id(target) in here), None)
    for node in candidates:
        if node is target:  # the statement stores there; it does not read
            continue
        found = _match_of(node, target, module, name, direction, table or load_table())
        if found is not None:
            return found
    return None


def _match_of(
    node: cst.CSTNode,
    target: cst.CSTNode | None,
    module: ParsedModule,
    api: str,
    direction: str,
    table: OperationTable,
) -> tuple[str, str] | None:
    for facts in _possible_facts(node, target, module, api, direction, table):
        for rule in by_precedence():
            for asked in {id(n): n for n in (node, facts.subject) if isinstance(n, rule.nodes)}.values():
                match = rule.match(asked, facts)
                if match is not None:
                    return rule.code, suggestion_of(rule, match)
    return None


def _possible_facts(
    node: cst.CSTNode,
    target: cst.CSTNode | None,
    module: ParsedModule,
    api: str,
    direction: str,
    table: OperationTable,
) -> Iterator[RuntimeFacts]:
    subject, operation, stored = _operation_of(node, target, module, api, table)
    if subject is not None and operation is not None:
        likely = _EFFECTS.get(direction, set(Effect))
        # As in the check, a tensor is taken to be dense.
        dense = [
            case for case in operation.blocks if not any("layout" in KINDS.get(t.kind, "") for t in case.when)
        ]
        cases = _by_likelihood(subject, stored, dense)
        for case in sorted(cases, key=lambda case: case.effect not in likely):
            facts = RuntimeFacts(module, api, table, subject, operation, case, stored)
            if facts.is_possible():
                yield facts
    if subject is None or isinstance(node, (cst.If, cst.While, cst.Comparison)):
        yield RuntimeFacts(module, api, table)


def _operation_of(
    node: cst.CSTNode, target: cst.CSTNode | None, module: ParsedModule, api: str, table: OperationTable
) -> tuple[cst.CSTNode | None, Operation | None, cst.BaseExpression | None]:
    """The call or subscript that a node is about, its entry in the table, and the value that it stores.

    An assignment may have several targets; ``target`` is the one that waits.
    """
    if isinstance(node, cst.Call):
        return node, table.find(module.name_of(node.func, api)), None
    if isinstance(node, cst.Subscript):
        return node, table.find("torch.Tensor.__getitem__"), None
    if isinstance(node, cst.Assign) and isinstance(target, cst.Subscript):
        return target, table.find("torch.Tensor.__setitem__"), node.value
    return None, None, None


def _by_likelihood(
    subject: cst.CSTNode, stored: cst.BaseExpression | None, cases: Sequence[Case]
) -> list[Case]:
    """The cases in their order, but first those that the text makes likely.

    An index that is called one reads a scalar; a number that is stored is what is uploaded, and what is
    no number when it is stored is rather a tensor.
    """
    text = cst.Module([]).code_for_node(subject.slice[0]) if isinstance(subject, cst.Subscript) else ""
    scalar_index = _SCALAR_INDEX.search(text) is not None
    literal = None if stored is None else _literal(stored)
    number = literal is not None and literal.kind is Kind.NUMBER

    def rank(case: Case) -> int:
        about_number = any(term.arg == "value" and term.kind == "number" for term in case.when)
        if (scalar_index and case.effect is Effect.SCALAR) or (number and about_number):
            return 0
        return 2 if about_number else 1

    return sorted(cases, key=rank)


_SCALAR_INDEX = re.compile(r"(^|[-._])(i|j|k|n|pos|index|idx|step|len)\d*$")


class RuntimeFacts:
    """Answers a rule about a node that blocked, as ``syncscan.rule.Facts`` asks, under one case."""

    def __init__(
        self,
        module: ParsedModule,
        api: str,
        table: OperationTable,
        subject: cst.CSTNode | None = None,
        operation: Operation | None = None,
        case: Case | None = None,
        stored: cst.BaseExpression | None = None,
    ) -> None:
        self._module = module
        self._api = api
        self._table = table
        self.subject = subject
        self._operation = operation
        self._case = case
        self._stored = stored
        self._assumed = self._assume()

    def of(self, node: cst.CSTNode) -> Value:
        """What the case asks of an operand, what a literal is, and else a tensor on the GPU."""
        if id(node) in self._assumed:
            return self._assumed[id(node)]
        if isinstance(node, cst.UnaryOperation) and not isinstance(node.operator, cst.Not):
            return self.of(node.expression)
        if isinstance(node, cst.Name) and node.value in {"True", "False", "None"}:
            return Value(Kind.NONE) if node.value == "None" else _NUMBER
        return _LITERALS.get(type(node), _GPU)

    def name_of(self, node: cst.CSTNode) -> str:
        """The full name of a function; a method of anything but a module is taken for a tensor's."""
        return self._module.name_of(node, self._api)

    def blocks(self, node: cst.CSTNode) -> Case | None:
        """The case that is being tried, for the call or subscript that it is about."""
        return self._case if node is self.subject else None

    def queued(self, node: cst.CSTNode) -> Case | None:  # noqa: ARG002
        """None: what a trace asks about has waited."""
        return None

    def behind(self, node: cst.CSTNode) -> Iterator[tuple[cst.CSTNode, RuntimeFacts]]:  # noqa: ARG002
        """Nothing: a trace asks why something has waited, and not what should have."""
        return iter(())

    def line(self, node: cst.CSTNode) -> int:
        """The line of its file on which a node begins."""
        return self._module.line(node)

    def drifts_from(self, node: cst.CSTNode) -> Value | None:  # noqa: ARG002
        """None: no wait comes of it."""
        return None

    def wait_inside(self, node: cst.CSTNode) -> Value | None:  # noqa: ARG002
        """None: a trace blames the line in the property's body itself."""
        return None

    def group(self, call: cst.Call) -> Value:  # noqa: ARG002
        """One of NCCL: it has waited for the GPU."""
        return _NCCL

    def argument(self, call: cst.Call, name: str) -> cst.BaseExpression | None:
        """The argument that a call of a known operation binds to a parameter, if it is given."""
        operation = self._table.find(self.name_of(call.func))
        return None if operation is None else self._given(call, operation).get(name, (None,))[0]

    def source(self, node: cst.CSTNode) -> str:
        """The text of a node."""
        return self._module.tree.code_for_node(node)

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """The node around a node; None around the statement."""
        return self._module.around_each.parent(node)

    def statement(self, node: cst.CSTNode) -> cst.CSTNode:
        """The statement in which a node stands."""
        return self._module.around_each.statement(node)

    def function(self, node: cst.CSTNode) -> str:
        """The qualified name of the function in which a node stands."""
        return self._module.around_each.function(node)

    def in_loop(self, node: cst.CSTNode) -> bool:
        """Whether a loop or a comprehension of the function around it runs a node again and again."""
        return self._module.around_each.in_loop(node)

    def made_in_loop(self, node: cst.CSTNode) -> bool:
        """Whether an expression reads what the body of the innermost loop around it sets."""
        return self._module.around_each.made_in_loop(node)

    def before(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """The statement that stands before the one of a node, in the same body."""
        return self._module.around_each.beside(node, -1)

    def after(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """The statement that stands behind the one of a node, in the same body."""
        return self._module.around_each.beside(node, 1)

    def raises(self, node: cst.CSTNode) -> bool:
        """Whether the statement of a node only decides on an error."""
        return isinstance(self.statement(node), cst.Assert)

    def used_at_once(self, node: cst.CSTNode) -> bool:
        """Whether the value of an expression is used where it stands, or by the next statement."""
        return self._module.around_each.used_at_once(node, self.after(node))

    def is_possible(self) -> bool:
        """Whether the text contradicts no term of the case: one operand has to satisfy it, if any is given."""
        return all(
            any(_may_be(node, term) for node in nodes) if nodes else _may_be_left_out(term)
            for term, nodes in self._terms()
        )

    def _assume(self) -> dict[int, Value]:
        kinds: dict[int, tuple[str, ...]] = {}
        for term, nodes in self._terms():
            if term.test == "is" and not term.negated:
                kinds.update(
                    (id(n), (*kinds.get(id(n), ()), term.kind)) for n in nodes if _literal(n) is None
                )
        return {node: _example(*of_node) for node, of_node in kinds.items()}

    def _terms(self) -> Iterator[tuple[Term, tuple[cst.CSTNode, ...]]]:
        if self._case is None or self._operation is None or self.subject is None:
            return
        bound = self._operands(self.subject, self._operation)
        for term in self._case.when:
            yield term, bound.get(term.arg, ())

    def _operands(self, subject: cst.CSTNode, operation: Operation) -> Mapping[str, tuple[cst.CSTNode, ...]]:
        if isinstance(subject, cst.Call):
            return self._given(subject, operation)
        subscript = cst.ensure_type(subject, cst.Subscript)
        indices = [e.slice.value if isinstance(e.slice, cst.Index) else e.slice for e in subscript.slice]
        found: dict[str, tuple[cst.CSTNode, ...]] = {"input": (subscript.value,), "index": tuple(indices)}
        if self._stored is not None:
            found["value"] = (self._stored,)
        return found

    def _given(self, call: cst.Call, operation: Operation) -> dict[str, tuple[cst.BaseExpression, ...]]:
        """The operands of a call by parameter."""
        positional = [arg.value for arg in call.args if arg.keyword is None]
        if isinstance(call.func, cst.Attribute) and not self._module.is_imported(call.func.value):
            positional.insert(0, call.func.value)
        keywords = {arg.keyword.value: arg.value for arg in call.args if arg.keyword is not None}
        return by_parameter(operation.args, positional, keywords)[0]


def _literal(node: cst.CSTNode) -> Value | None:
    if isinstance(node, cst.Name) and node.value in {"True", "False", "None"}:
        return replace(_NUMBER, payload={"True": True, "False": False}.get(node.value))
    if isinstance(node, cst.UnaryOperation):
        return _literal(node.expression)
    return _LITERALS.get(type(node))


def _may_be_left_out(term: Term) -> bool:
    """Whether a term can hold although the text gives nothing for it: the default device, the place of a store."""
    if term.test != "is" or term.negated or term.arg in {"any", "place"}:
        return True
    return asks(term.kind, {"names"})


def _may_be(node: cst.CSTNode, term: Term) -> bool:
    """Whether the text of an operand allows a term to hold."""
    if term.test != "is" or term.negated:
        return True
    if isinstance(node, cst.Slice):
        return asks(term.kind, {"is slice"})
    literal = _literal(node)
    said = asks(term.kind, {"is slice", "true"})  # what the text itself would say
    if literal is None:
        return not said
    verdict = is_of(term.kind, replace(literal, element=None))  # a list may hold anything
    return bool(verdict) if said else verdict is not False


@functools.cache
def _example(*kinds: str) -> Value:
    return max(_EXAMPLES, key=lambda value: sum(is_of(kind, value) is True for kind in kinds))


class ParsedModule:
    """A source file as libcst sees it: nodes by place, and what its imports call things."""

    def __init__(self, tree: cst.Module) -> None:
        wrapper = MetadataWrapper(tree, unsafe_skip_copy=True)
        self.tree = wrapper.module
        self._positions = wrapper.resolve(PositionProvider)
        self._names: dict[str, str] = {}
        self._read_imports(self.tree)

    @functools.cached_property
    def around_each(self) -> Surroundings:
        """The way up from every node."""
        return Surroundings(self.tree)

    def around(self, place: Range) -> list[cst.CSTNode]:
        """The nodes at exactly this range, innermost first, then those around them up to the statement."""
        found: list[cst.CSTNode] = []
        node: cst.CSTNode | None = self.tree
        while node is not None:
            found.append(node)
            node = next((child for child in node.children if self._holds(child, place)), None)
        chain = found[::-1]
        end = next((i + 1 for i, node in enumerate(chain) if isinstance(node, _STATEMENTS)), None)
        return chain[:end]

    def on_line(self, line: int) -> list[cst.CSTNode]:
        """The nodes that start on a line, the smallest first."""
        nodes = [n for n in self._positions if isinstance(n, (cst.BaseExpression, *_STATEMENTS))]
        here = [node for node in nodes if self._range(node)[0] == line]
        return sorted(here, key=lambda node: self._range(node)[2:])

    def line(self, node: cst.CSTNode) -> int:
        """The line on which a node begins."""
        return self._range(node)[0]

    def name_of(self, node: cst.CSTNode, api: str) -> str:
        """The full name of a function in a call; see ``RuntimeFacts.name_of``."""
        if isinstance(node, cst.Name):
            if node.value in self._names:
                return self._names[node.value]
            return f"builtins.{node.value}" if hasattr(builtins, node.value) else ""
        if not isinstance(node, cst.Attribute):
            return ""
        dotted = self._dotted(node.value)
        if dotted is not None:
            return f"{dotted}.{node.attr.value}"
        owner = _WAITERS.get(api, "torch.Tensor") if node.attr.value == "synchronize" else "torch.Tensor"
        return f"{owner}.{node.attr.value}"

    def is_imported(self, node: cst.BaseExpression) -> bool:
        """Whether an expression names a module, or what is in one."""
        return self._dotted(node) is not None

    def _dotted(self, node: cst.BaseExpression) -> str | None:
        """The full name of a module or class, if the expression starts with an imported name."""
        if isinstance(node, cst.Name):
            return self._names.get(node.value)
        if isinstance(node, cst.Attribute):
            owner = self._dotted(node.value)
            return f"{owner}.{node.attr.value}" if owner is not None else None
        return None

    def _holds(self, node: cst.CSTNode, place: Range) -> bool:
        if node not in self._positions:
            return False
        line, column, end_line, end_column = self._range(node)
        return (line, column) <= place[:2] and place[2:] <= (end_line, end_column)

    def _range(self, node: cst.CSTNode) -> Range:
        found = self._positions[node]
        if not isinstance(found, CodeRange):
            raise TypeError(found)
        return found.start.line, found.start.column + 1, found.end.line, found.end.column + 1

    def _read_imports(self, node: cst.CSTNode) -> None:
        if isinstance(node, cst.Import):
            for alias in node.names:
                name = _text(alias.name)
                bound = _text(alias.asname.name) if alias.asname is not None else name.partition(".")[0]
                self._names[bound] = name if alias.asname is not None else bound
        elif isinstance(node, cst.ImportFrom) and not isinstance(node.names, cst.ImportStar):
            origin = _text(node.module) if node.module is not None and not node.relative else ""
            for alias in node.names:
                bound = _text(alias.asname.name if alias.asname is not None else alias.name)
                self._names[bound] = f"{origin}.{_text(alias.name)}"
        elif not isinstance(node, cst.BaseExpression):
            for child in node.children:
                self._read_imports(child)


_STATEMENTS = (cst.BaseSmallStatement, cst.BaseCompoundStatement)


def _text(node: cst.CSTNode) -> str:
    if isinstance(node, cst.Attribute):
        return f"{_text(node.value)}.{node.attr.value}"
    return node.value if isinstance(node, cst.Name) else ""


@functools.lru_cache(maxsize=8)
def _parse(source_text: str) -> ParsedModule | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in the user's code are not our subject
            ast.parse(source_text)  # what is nested too deeply for Python would crash libcst
        return ParsedModule(cst.parse_module(source_text))
    except (SyntaxError, ValueError, MemoryError, cst.ParserSyntaxError, RecursionError):
        return None

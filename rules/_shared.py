"""The questions that several rules ask: about a call, its arguments and the parts of an index."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable
from dataclasses import replace

from syncscan.model import Applicability, Confidence, Kind, Value
from syncscan.ops import Effect
from syncscan.ops.inferred import is_of
from syncscan.ops.kinds import asks
from syncscan.rule import Facts
from syncscan.syntax.source_text import on_one_line

from ._code import CallCode, arguments_of
from ._parts import is_enclosed

CONSTRUCTORS = frozenset({"tensor", "as_tensor", "asarray", "new_tensor"})  # of a tensor from host data

PYTHON = ("builtins.", "math.", "operator.", "logging.")  # packages whose functions have rules of their own

_LONGEST_SHOWN = 60


def shown(node: ast.AST, facts: Facts) -> str:
    """Return the text of a node on one line, cut where long, for a message."""
    return f"`{on_one_line(facts.edited(node, {}), _LONGEST_SHOWN)}`"


def as_operand(node: ast.AST, facts: Facts) -> str:
    """Return the text of a node to which a suggestion adds a method: with parentheses around an operation."""
    text = facts.source(node)
    is_operation = isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.IfExp))
    return f"({text})" if is_operation and not is_enclosed(text) else text


def blocking_call(
    node: ast.AST, facts: Facts, effect: Effect, names: Collection[str] = ()
) -> ast.Call | None:
    """Return the node, if it is a call that blocks as ``effect``, of one of the functions named if any are."""
    if not isinstance(node, ast.Call):
        return None
    if names and facts.name_of(node.func) not in names and plain_name(node, facts) not in names:
        return None
    case = facts.blocks(node)
    return node if case is not None and case.effect is effect else None


def plain_name(call: ast.Call, facts: Facts) -> str:
    """Return the last part of the name of a torch function or method: "nonzero" for "torch.Tensor.nonzero"."""
    module, _, last = facts.name_of(call.func).rpartition(".")
    return last if module in {"torch", "torch.Tensor", "torch.nn.functional"} else ""


def subject(call: ast.Call, facts: Facts) -> ast.expr:
    """Return the tensor that an operation works on; the call itself where ``*`` hides the tensor."""
    return facts.argument(call, "input") or call


def copied(call: ast.Call, facts: Facts) -> ast.expr | None:
    """Return the source of ``copy_``, ``to`` or ``cuda``; None where ``*`` hides the source."""
    return facts.argument(call, "src" if plain_name(call, facts) == "copy_" else "input")


def operands(call: ast.Call, facts: Facts) -> list[Value]:
    """Return the values of a method's receiver, and of each argument."""
    before = [call.func.value] if isinstance(call.func, ast.Attribute) else []
    return [facts.of(node) for node in (*before, *given(call))]


def given(call: ast.Call) -> list[ast.expr]:
    """Return the expressions of a call's arguments in the order of the source, unpacked ones included."""
    return [
        argument.value if isinstance(argument, (ast.keyword, ast.Starred)) else argument
        for argument in arguments_of(call)
    ]


def call_around(node: ast.AST, facts: Facts) -> ast.Call | None:
    """Return the call that has a node as an argument, unpacked or not."""
    call = facts.parent(node)
    if isinstance(call, (ast.keyword, ast.Starred)):
        call = facts.parent(call)
    return call if isinstance(call, ast.Call) and call.func is not node else None


def keywords_of(call: ast.Call) -> set[str]:
    """Return the names of the keyword arguments of a call."""
    return {keyword.arg for keyword in call.keywords if keyword.arg is not None}


def gpu_operand(call: ast.Call, facts: Facts) -> Value | None:
    """Return the surest operand on the GPU, or with a part on the GPU: operands of one operation share a device."""
    return surest(map(on_gpu, operands(call, facts)))


def surest(values: Iterable[Value | None]) -> Value | None:
    """Return the value of the highest confidence, the first of several."""
    return max((value for value in values if value is not None), key=_confidence, default=None)


def _confidence(value: Value) -> Confidence:
    return value.confidence


def decider(call: ast.Call, facts: Facts, place: Collection[str]) -> ast.expr | None:
    """Return the argument that makes a call block: one whose place a term of the call's case requires, such as "on gpu"."""
    case = facts.blocks(call)
    for term in case.when if case is not None else ():
        if term.test != "is" or term.negated or not asks(term.kind, place):
            continue
        named = facts.argument(call, term.arg)
        nodes = [*([named] if named is not None else []), *given(call)]
        for verdict in (True, None):
            found = next((node for node in nodes if is_of(term.kind, facts.of(node)) is verdict), None)
            if found is not None:
                return found
    return None


def on_gpu(value: Value) -> Value | None:
    """Return the value itself, or a value inside at any depth, if that value is a tensor on the GPU."""
    if value.is_gpu:
        return value
    inside = value.items if value.items is not None else (value.element,)
    found = (on_gpu(item) for item in inside if item is not None)
    return next((item for item in found if item is not None), None)


def doubted(value: Value, *others: Value) -> Value:
    """Return the deciding value, no surer than the other premises of the finding."""
    option = min(value.options, key=lambda one: one.confidence, default=value)
    sure = min(one.confidence for each in (option, *others) for one in (each, *each.options))
    return replace(option, confidence=sure)


def deciding(*values: Value) -> Value:
    """Return the first value with evidence for its place, no surer than any of the values."""
    first = next((value for value in values if value.evidence), values[0])
    return doubted(first, *values)


def certain(fix_is_exact: bool, *values: Value) -> Applicability:
    """Return SAFE where the rewrite is exact in every case and the values behind it are proved."""
    proved = all(value.confidence is Confidence.PROVED for value in values)
    return Applicability.SAFE if fix_is_exact and proved else Applicability.UNSAFE


def index_parts(subscript: ast.Subscript) -> list[ast.expr]:
    """Return the parts of an index, which commas separate."""
    return subscript.slice.elts if isinstance(subscript.slice, ast.Tuple) else [subscript.slice]


def index_elements(subscript: ast.Subscript) -> list[ast.expr]:
    """Return the expressions between the brackets that are no slices."""
    return [part for part in index_parts(subscript) if not isinstance(part, ast.Slice)]


def stored_value(place: ast.Subscript, written: ast.expr | None, facts: Facts) -> Value:
    """Return the value of a store, whose expression is ``written`` if it has one; see `syncscan.syntax.stores`."""
    return facts.operand(place, "value") if written is None else facts.of(written)


def anchor_of_store(place: ast.Subscript, node: ast.AST) -> ast.AST:
    """Return what a finding about a store stands at: the assignment for its first target, another target itself."""
    return node if isinstance(node, ast.Assign) and node.targets[0] is place else place


def filled(tensor: ast.Call, facts: Facts) -> CallCode | None:
    """Return ``torch.full((), number)`` for ``torch.tensor(number)``; None for other forms."""
    if (
        not isinstance(tensor.func, ast.Attribute)
        or not tensor.args
        or isinstance(tensor.args[0], ast.Starred)
    ):
        return None
    number = tensor.args[0]
    return CallCode(tensor, facts).renamed("full").edited(number, f"(), {facts.source(number)}")


def gives_a_view(subscript: ast.Subscript, facts: Facts) -> bool:
    """Return whether the index consists of integers and slices; a truth value, a number too, copies."""
    indices = [facts.of(element) for element in index_elements(subscript)]
    return all(index.kind is Kind.NUMBER and index.dtype != "bool" for index in indices)


def unpacks(call: ast.Call) -> bool:
    """Return whether arguments hide behind ``*`` or ``**``: a rewrite might add an argument twice."""
    return any(isinstance(argument, ast.Starred) for argument in call.args) or any(
        keyword.arg is None for keyword in call.keywords
    )


def is_true(node: ast.expr | None) -> bool:
    """Return whether a node is the literal ``True``."""
    return isinstance(node, ast.Constant) and node.value is True


def is_false(node: ast.expr | None) -> bool:
    """Return whether a node is the literal ``False``, or missing."""
    return node is None or (isinstance(node, ast.Constant) and node.value is False)


def is_device(value: Value) -> bool:
    """Return whether a value is a device, as an object or as its name."""
    return value.kind in {Kind.DEVICE, Kind.STRING}

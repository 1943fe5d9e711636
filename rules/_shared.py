"""What several rules need: asking the facts about a call, its arguments and the parts of an index."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable
from dataclasses import replace

from syncscan.model import Applicability, Confidence, Kind, Value
from syncscan.ops import Effect
from syncscan.ops.inferred import is_of
from syncscan.ops.kinds import asks
from syncscan.rule import Facts

from ._code import CallCode, arguments_of

CONSTRUCTORS = frozenset({"tensor", "as_tensor", "asarray", "new_tensor"})  # of a tensor from host data

PYTHON = ("builtins.", "math.", "operator.", "logging.")  # packages whose functions have rules of their own

_LONGEST_SHOWN = 60
_BROKEN_BRACKETS = re.compile(r"(?<=[(\[{])\s*\n\s*|,?\s*\n\s*(?=[)\]}])")  # line breaks inside brackets


def shown(node: ast.AST, facts: Facts) -> str:
    """The text of a node on one line, cut where it is long, for a message."""
    text = " ".join(_BROKEN_BRACKETS.sub("", facts.edited(node, {})).split())
    return f"`{text}`" if len(text) <= _LONGEST_SHOWN else f"`{text[: _LONGEST_SHOWN - 3]}...`"


def blocking_call(
    node: ast.AST, facts: Facts, effect: Effect, names: Collection[str] = ()
) -> ast.Call | None:
    """The node, if it is a call that blocks as ``effect``, of one of the functions named if any are."""
    if not isinstance(node, ast.Call):
        return None
    if names and facts.name_of(node.func) not in names and plain_name(node, facts) not in names:
        return None
    case = facts.blocks(node)
    return node if case is not None and case.effect is effect else None


def plain_name(call: ast.Call, facts: Facts) -> str:
    """The last part of the name of a function or method of torch: "nonzero" for "torch.Tensor.nonzero"."""
    module, _, last = facts.name_of(call.func).rpartition(".")
    return last if module in {"torch", "torch.Tensor", "torch.nn.functional"} else ""


def subject(call: ast.Call, facts: Facts) -> ast.expr:
    """The tensor that an operation works on; the call itself where ``*`` hides it."""
    return facts.argument(call, "input") or call


def copied(call: ast.Call, facts: Facts) -> ast.expr | None:
    """What ``copy_`` copies from, or what ``to`` and ``cuda`` copy; None where ``*`` hides it."""
    return facts.argument(call, "src" if plain_name(call, facts) == "copy_" else "input")


def operands(call: ast.Call, facts: Facts) -> list[Value]:
    """What is known of the object whose method is called, and of each argument."""
    before = [call.func.value] if isinstance(call.func, ast.Attribute) else []
    return [facts.of(node) for node in (*before, *given(call))]


def given(call: ast.Call) -> list[ast.expr]:
    """The values of the arguments of a call, in the order in which they are written, and what is unpacked."""
    return [
        argument.value if isinstance(argument, (ast.keyword, ast.Starred)) else argument
        for argument in arguments_of(call)
    ]


def call_around(node: ast.AST, facts: Facts) -> ast.Call | None:
    """The call of which a node is an argument, or is unpacked into some."""
    call = facts.parent(node)
    if isinstance(call, (ast.keyword, ast.Starred)):
        call = facts.parent(call)
    return call if isinstance(call, ast.Call) and call.func is not node else None


def keywords_of(call: ast.Call) -> set[str]:
    """The names of the keyword arguments of a call."""
    return {keyword.arg for keyword in call.keywords if keyword.arg is not None}


def gpu_operand(call: ast.Call, facts: Facts) -> Value | None:
    """The operand that is most surely on the GPU, or holds something there: operands of one operation share a device."""
    return surest(map(on_gpu, operands(call, facts)))


def surest(values: Iterable[Value | None]) -> Value | None:
    """The value of the highest confidence, the first of several."""
    return max((value for value in values if value is not None), key=_confidence, default=None)


def _confidence(value: Value) -> Confidence:
    return value.confidence


def decider(call: ast.Call, facts: Facts, place: Collection[str]) -> ast.expr | None:
    """The argument that makes a call wait: one that a term of its case says to be in a place, such as "on gpu", and that may be."""
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
    """The value itself, or what it holds, however deep, if that is a tensor on the GPU."""
    if value.is_gpu:
        return value
    inside = value.items if value.items is not None else (value.element,)
    found = (on_gpu(item) for item in inside if item is not None)
    return next((item for item in found if item is not None), None)


def doubted(value: Value, *others: Value) -> Value:
    """The value that decides, no surer than the others on which the finding rests."""
    option = min(value.options, key=lambda one: one.confidence, default=value)
    sure = min(one.confidence for each in (option, *others) for one in (each, *each.options))
    return replace(option, confidence=sure)


def deciding(*values: Value) -> Value:
    """The first of the values of which it is known why they are where they are, no surer than any of them."""
    first = next((value for value in values if value.evidence), values[0])
    return doubted(first, *values)


def certain(fix_is_exact: bool, *values: Value) -> Applicability:
    """SAFE where the rewrite gives the same in every case and the values it rests on are proved."""
    proved = all(value.confidence is Confidence.PROVED for value in values)
    return Applicability.SAFE if fix_is_exact and proved else Applicability.UNSAFE


def index_parts(subscript: ast.Subscript) -> list[ast.expr]:
    """The parts of an index, which commas separate."""
    return subscript.slice.elts if isinstance(subscript.slice, ast.Tuple) else [subscript.slice]


def index_elements(subscript: ast.Subscript) -> list[ast.expr]:
    """The expressions between the brackets that are no slices."""
    return [part for part in index_parts(subscript) if not isinstance(part, ast.Slice)]


def filled(tensor: ast.Call, facts: Facts) -> CallCode | None:
    """``torch.full((), number)`` for ``torch.tensor(number)``; None where it is written in another way."""
    if (
        not isinstance(tensor.func, ast.Attribute)
        or not tensor.args
        or isinstance(tensor.args[0], ast.Starred)
    ):
        return None
    number = tensor.args[0]
    return CallCode(tensor, facts).renamed("full").edited(number, f"(), {facts.source(number)}")


def gives_a_view(subscript: ast.Subscript, facts: Facts) -> bool:
    """Whether the index is made of integers and slices; a truth value, which is a number too, gives a copy."""
    indices = [facts.of(element) for element in index_elements(subscript)]
    return all(index.kind is Kind.NUMBER and index.dtype != "bool" for index in indices)


def unpacks(call: ast.Call) -> bool:
    """Whether arguments hide behind ``*`` or ``**``: what a rewrite adds may be there already."""
    return any(isinstance(argument, ast.Starred) for argument in call.args) or any(
        keyword.arg is None for keyword in call.keywords
    )


def is_true(node: ast.expr | None) -> bool:
    """The literal ``True``."""
    return isinstance(node, ast.Constant) and node.value is True


def is_false(node: ast.expr | None) -> bool:
    """The literal ``False``, or what is not given."""
    return node is None or (isinstance(node, ast.Constant) and node.value is False)


def is_device(value: Value) -> bool:
    """A device, as an object or as its name."""
    return value.kind in {Kind.DEVICE, Kind.STRING}

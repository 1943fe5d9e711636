"""What several rules need: asking the facts about a call, and editing its arguments."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import libcst as cst

from syncscan.model import Applicability, Confidence, Kind, Value
from syncscan.ops import Effect
from syncscan.ops.inferred import is_of
from syncscan.ops.kinds import asks
from syncscan.rule import Facts

CONSTRUCTORS = frozenset({"tensor", "as_tensor", "asarray", "new_tensor"})  # of a tensor from host data

PYTHON = ("builtins.", "math.", "operator.", "logging.")  # packages whose functions have rules of their own

_LONGEST_SHOWN = 60

_NO_SPACE = cst.SimpleWhitespace("")


def shown(node: cst.CSTNode, facts: Facts) -> str:
    """The text of a node on one line, cut where it is long, for a message."""
    text = " ".join(facts.source(node).split())
    return f"`{text}`" if len(text) <= _LONGEST_SHOWN else f"`{text[: _LONGEST_SHOWN - 3]}...`"


def blocking_call(
    node: cst.CSTNode, facts: Facts, effect: Effect, names: Collection[str] = ()
) -> cst.Call | None:
    """The node, if it is a call that blocks as ``effect``, of one of the functions named if any are."""
    if not isinstance(node, cst.Call):
        return None
    if names and facts.name_of(node.func) not in names and plain_name(node, facts) not in names:
        return None
    case = facts.blocks(node)
    return node if case is not None and case.effect is effect else None


def plain_name(call: cst.Call, facts: Facts) -> str:
    """The last part of the name of a function or method of torch: "nonzero" for "torch.Tensor.nonzero"."""
    module, _, last = facts.name_of(call.func).rpartition(".")
    return last if module in {"torch", "torch.Tensor", "torch.nn.functional"} else ""


def subject(call: cst.Call, facts: Facts) -> cst.BaseExpression:
    """The tensor that an operation works on; the call itself where ``*`` hides it."""
    return facts.argument(call, "input") or call


def copied(call: cst.Call, facts: Facts) -> cst.BaseExpression | None:
    """What ``copy_`` copies from, or what ``to`` and ``cuda`` copy; None where ``*`` hides it."""
    return facts.argument(call, "src" if plain_name(call, facts) == "copy_" else "input")


def operands(call: cst.Call, facts: Facts) -> list[Value]:
    """What is known of the object whose method is called, and of each argument."""
    nodes = [argument.value for argument in call.args]
    return [
        facts.of(node)
        for node in ([call.func.value, *nodes] if isinstance(call.func, cst.Attribute) else nodes)
    ]


def gpu_operand(call: cst.Call, facts: Facts) -> Value | None:
    """The first operand on the GPU, or that holds something there."""
    return next((value for value in map(on_gpu, operands(call, facts)) if value is not None), None)


def decider(call: cst.Call, facts: Facts, place: Collection[str]) -> cst.BaseExpression | None:
    """The argument that makes a call wait: one that a term of its case says to be in a place, such as "on gpu", and that may be."""
    case = facts.blocks(call)
    for term in case.when if case is not None else ():
        if term.test != "is" or term.negated or not asks(term.kind, place):
            continue
        given = facts.argument(call, term.arg)
        nodes = [*([given] if given is not None else []), *(argument.value for argument in call.args)]
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
    first = next((value for value in values if value.evidence is not None), values[0])
    return doubted(first, *values)


def certain(fix_is_exact: bool, *values: Value) -> Applicability:
    """SAFE where the rewrite gives the same in every case and the values it rests on are proved."""
    proved = all(value.confidence is Confidence.PROVED for value in values)
    return Applicability.SAFE if fix_is_exact and proved else Applicability.UNSAFE


def index_elements(subscript: cst.Subscript) -> list[cst.BaseExpression]:
    """The expressions between the brackets that are no slices."""
    elements = [element.slice for element in subscript.slice]
    return [element.value for element in elements if isinstance(element, cst.Index)]


def filled(tensor: cst.Call) -> cst.Call | None:
    """``torch.full((), number)`` for ``torch.tensor(number)``; None where it is written in another way."""
    if not isinstance(tensor.func, cst.Attribute) or not tensor.args:
        return None
    if tensor.args[0].keyword is not None or tensor.args[0].star:
        return None
    full = tensor.func.with_changes(attr=cst.Name("full"))
    return tensor.with_changes(func=full, args=(cst.Arg(cst.Tuple(())), *tensor.args))


def gives_a_view(subscript: cst.Subscript, facts: Facts) -> bool:
    """Whether the index is made of integers and slices; a truth value, which is a number too, gives a copy."""
    indices = [facts.of(element) for element in index_elements(subscript)]
    return all(index.kind is Kind.NUMBER and index.dtype != "bool" for index in indices)


def unpacks(call: cst.Call) -> bool:
    """Whether arguments hide behind ``*`` or ``**``: what a rewrite adds may be there already."""
    return any(argument.star for argument in call.args)


def is_true(node: cst.BaseExpression | None) -> bool:
    """The literal ``True``."""
    return isinstance(node, cst.Name) and node.value == "True"


def is_false(node: cst.BaseExpression | None) -> bool:
    """The literal ``False``, or what is not given."""
    return node is None or (isinstance(node, cst.Name) and node.value == "False")


def is_device(value: Value) -> bool:
    """A device, as an object or as its name."""
    return value.kind in {Kind.DEVICE, Kind.STRING}


def set_argument(call: cst.Call, name: str, value: cst.BaseExpression) -> cst.Call:
    """The call with a keyword argument changed, or added at its end."""
    if isinstance(value, cst.NamedExpr) and not value.lpar:
        value = value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    for index, argument in enumerate(call.args):
        if argument.keyword is not None and argument.keyword.value == name:
            changed = argument.with_changes(value=value)
            return call.with_changes(args=(*call.args[:index], changed, *call.args[index + 1 :]))
    new = cst.Arg(
        value,
        keyword=cst.Name(name),
        equal=cst.AssignEqual(whitespace_before=_NO_SPACE, whitespace_after=_NO_SPACE),
    )
    if not call.args:
        return call.with_changes(args=(new,))
    last = call.args[-1]
    new = new.with_changes(comma=last.comma, whitespace_after_arg=last.whitespace_after_arg)
    between = _without_comment(call.args[-2].comma) if len(call.args) > 1 else cst.MaybeSentinel.DEFAULT
    kept = last.with_changes(comma=between, whitespace_after_arg=_NO_SPACE)
    return call.with_changes(args=(*call.args[:-1], kept, new))


def _without_comment(comma: cst.Comma | cst.MaybeSentinel) -> cst.Comma | cst.MaybeSentinel:
    """A comma with the line break that follows it, and without what else stands on the line."""
    if isinstance(comma, cst.Comma) and isinstance(comma.whitespace_after, cst.ParenthesizedWhitespace):
        white = comma.whitespace_after.with_changes(first_line=cst.TrailingWhitespace(), empty_lines=())
        return comma.with_changes(whitespace_after=white)
    return comma


def bare(call: cst.Call) -> cst.Call:
    """The call without parentheses around it."""
    return call.with_changes(lpar=(), rpar=())


def method_call(subject: cst.BaseExpression, name: str, *arguments: cst.Arg) -> cst.Call:
    """``subject.name(arguments)``, with the parentheses that the subject needs."""
    atoms = (cst.Name, cst.Attribute, cst.Call, cst.Subscript)
    if not isinstance(subject, atoms) and not subject.lpar:
        subject = subject.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return cst.Call(cst.Attribute(subject, cst.Name(name)), arguments)


TRUE = cst.Name("True")

"""Functions of torch that call the function they are given: checkpoints, transforms such as ``vmap``, and maps of trees.

A transform returns a function. That is a partial call of a name of ours, ``torch.vmap()``, whose first argument is the function
that was given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from syncscan.check.infer.domain.basic import list_of, partial_of, sequence, table
from syncscan.check.infer.domain.lattice import items_of_table, join_all
from syncscan.check.infer.domain.value import BOTTOM, AbstractValue, refine
from syncscan.check.infer.transfer.call import Call
from syncscan.check.infer.transfer.point import Point
from syncscan.check.infer.transfer.registry import FUNCTIONS, register
from syncscan.model import Kind

_OF_CHECKPOINT = frozenset(
    {"function", "use_reentrant", "preserve_rng_state", "context_fn", "determinism_check", "debug", "early_stop"}
)  # fmt: skip
_OF_TRANSFORMS = frozenset({"argnums", "has_aux"})
_DEEPEST = 3  # levels of nested containers in a tree whose leaves are changed


def _called(
    at: Point, call: Call, args: Sequence[AbstractValue], kwargs: Mapping[str, AbstractValue]
) -> AbstractValue:
    """Return the result of calling the first argument of a call with some of the others."""
    is_open_ended = call.is_open_ended and len(call.args) > 1
    return at.call(call.first, Call(args, kwargs, call.site, is_open_ended=is_open_ended))


def _without(kwargs: Mapping[str, AbstractValue], names: frozenset[str]) -> dict[str, AbstractValue]:
    return {name: value for name, value in kwargs.items() if name not in names}


@register(FUNCTIONS, "torch.utils.checkpoint.checkpoint", "deepspeed.checkpointing.checkpoint")
def _checkpoint(at: Point, call: Call) -> AbstractValue:
    return _called(at, call, call.args[1:], _without(call.kwargs, _OF_CHECKPOINT))


@register(FUNCTIONS, "torch.utils.checkpoint.checkpoint_sequential")
def _checkpoint_sequential(at: Point, call: Call) -> AbstractValue:
    given = call.given(2, "input")
    if call.first.items is None:
        is_one = str(call.first.payload).endswith(".Sequential")
        return at.call(call.first, Call((given,), {}, call.site)) if is_one else BOTTOM
    for module in call.first.items:
        given = at.call(module, Call((given,), {}, call.site))
    return given


@register(FUNCTIONS, "torch.func.functional_call", "torch.nn.utils.stateless.functional_call")
def _functional_call(at: Point, call: Call) -> AbstractValue:
    return _called_with(at, call, call.given(2, "args"))


def _called_with(at: Point, call: Call, given: AbstractValue) -> AbstractValue:
    """Return the result of calling the first argument with the items of a tuple, or with one value."""
    found = []
    for option in given.options or (given,):
        args, is_open_ended = _spread(option)
        found.append(at.call(call.first, Call(args, {}, call.site, is_open_ended=is_open_ended)))
    return join_all(found)


def _spread(value: AbstractValue) -> tuple[Sequence[AbstractValue], bool]:
    """Return the items of a tuple, and whether one stands for any number; another value is one item."""
    if value.kind is not Kind.TUPLE:
        return (value,), False
    if value.items is not None:
        return value.items, False
    return (value.element or BOTTOM,), True


def _transform(name: str) -> Callable[[Point, Call], AbstractValue]:
    """Return the transfer function of a transform, whose result calls a name of ours."""
    callee = AbstractValue(Kind.MODULE, payload=name)

    def made(_: Point, call: Call) -> AbstractValue:
        kwargs = {each: value for each, value in call.kwargs.items() if each in _OF_TRANSFORMS}
        if len(call.args) > 1 and name != "torch.vmap()":
            kwargs["argnums"] = call.args[1]
        return partial_of(callee, [call.first], kwargs) if call.args else BOTTOM

    return made


for _name, _module in (
    ("vmap", "torch"),
    ("vmap", "torch.func"),
    ("grad", "torch.func"),
    ("grad_and_value", "torch.func"),
    ("jacrev", "torch.func"),
    ("jacfwd", "torch.func"),
    ("hessian", "torch.func"),
):
    register(FUNCTIONS, f"{_module}.{_name}", f"functorch.{_name}")(_transform(f"torch.{_name}()"))


@register(FUNCTIONS, "torch.vmap()")
def _mapped(at: Point, call: Call) -> AbstractValue:
    args = [_of_any_shape(each) for each in call.args[1:]]  # the function gets them without a dimension
    return _of_any_shape(_called(at, call, args, call.kwargs))


@register(FUNCTIONS, "torch.jacrev()", "torch.jacfwd()", "torch.hessian()")
def _jacobian(at: Point, call: Call) -> AbstractValue:
    output = _run(at, call)
    return BOTTOM if "has_aux" in call.kwargs else _of_any_shape(output)


@register(FUNCTIONS, "torch.grad()")
def _gradient(at: Point, call: Call) -> AbstractValue:
    _run(at, call)
    return BOTTOM if "has_aux" in call.kwargs else _of_any_shape(_differentiated(call))


@register(FUNCTIONS, "torch.grad_and_value()")
def _gradient_and_value(at: Point, call: Call) -> AbstractValue:
    value = _run(at, call)
    return (
        BOTTOM
        if "has_aux" in call.kwargs
        else sequence([_of_any_shape(_differentiated(call)), value], Kind.TUPLE)
    )


def _run(at: Point, call: Call) -> AbstractValue:
    """Return the result of the function that a transform was given."""
    return _called(at, call, call.args[1:], _without(call.kwargs, _OF_TRANSFORMS))


def _differentiated(call: Call) -> AbstractValue:
    """Return the arguments by which a function is differentiated; the gradient of each has the same place."""
    args = call.args[1:]
    if "argnums" not in call.kwargs:
        return args[0] if args else BOTTOM
    chosen = call.kwargs["argnums"]
    if chosen.kind is Kind.TUPLE and chosen.items is not None:
        return sequence([_at(args, each) for each in chosen.items], Kind.TUPLE)
    return _at(args, chosen)


def _at(args: Sequence[AbstractValue], position: AbstractValue) -> AbstractValue:
    """Return the argument at a position, any of them where the position is not known."""
    if position is BOTTOM:
        return BOTTOM
    number = position.payload
    if not isinstance(number, int):
        return join_all(args)
    return args[number] if -len(args) <= number < len(args) else BOTTOM


@register(FUNCTIONS, "torch.func.vjp", "torch.func.linearize", "functorch.vjp", "functorch.linearize")
def _with_function(at: Point, call: Call) -> AbstractValue:
    """Return the output at some inputs, and a function."""
    output = _called(at, call, call.args[1:], {})
    return BOTTOM if "has_aux" in call.kwargs else sequence([output, BOTTOM], Kind.TUPLE)


@register(FUNCTIONS, "torch.func.jvp", "functorch.jvp")
def _with_tangents(at: Point, call: Call) -> AbstractValue:
    """Return the output at some inputs, and the product with some tangents."""
    output = _called_with(at, call, call.given(1, "primals"))
    return BOTTOM if "has_aux" in call.kwargs else sequence([output, output], Kind.TUPLE)


@register(FUNCTIONS, *(f"torch.autograd.functional.{name}" for name in ("jacobian", "hessian")))
def _jacobian_at(at: Point, call: Call) -> AbstractValue:
    return _of_any_shape(_called_with(at, call, call.given(1, "inputs")))


@register(FUNCTIONS, "torch.autograd.functional.jvp")
def _product_of_output(at: Point, call: Call) -> AbstractValue:
    output = _called_with(at, call, call.given(1, "inputs"))
    return sequence([output, output], Kind.TUPLE)


@register(FUNCTIONS, *(f"torch.autograd.functional.{name}" for name in ("vjp", "hvp", "vhp")))
def _output_and_product(at: Point, call: Call) -> AbstractValue:
    output = _called_with(at, call, call.given(1, "inputs"))
    return sequence([output, _of_any_shape(call.given(1, "inputs"))], Kind.TUPLE)


@register(FUNCTIONS, "torch.utils._pytree.tree_map", "optree.tree_map")
def _tree_map(at: Point, call: Call) -> AbstractValue:
    return _leaves(lambda leaf: at.call(call.first, Call((leaf,), {}, call.site)), call.given(1, "tree"))


@register(FUNCTIONS, "torch.utils._pytree.tree_map_only")
def _tree_map_only(at: Point, call: Call) -> AbstractValue:
    if call.first.payload != "torch.Tensor":
        return BOTTOM
    function, tree = call.given(1, "func"), call.given(2, "tree")

    def changed(leaf: AbstractValue) -> AbstractValue:
        is_tensor = leaf.kind is Kind.TENSOR or leaf.kind is Kind.UNKNOWN
        return at.call(function, Call((leaf,), {}, call.site)) if is_tensor else leaf

    return _leaves(changed, tree)


def _of_any_shape(value: AbstractValue) -> AbstractValue:
    """Return a value with tensors of any number of dimensions."""
    return _leaves(lambda leaf: refine(leaf, ndim=None) if leaf.kind is Kind.TENSOR else leaf, value)


def _leaves(
    change: Callable[[AbstractValue], AbstractValue], value: AbstractValue, depth: int = _DEEPEST
) -> AbstractValue:
    """Return a tree of lists, tuples and dictionaries with its leaves changed."""
    if value.kind is Kind.UNION:
        return join_all([_leaves(change, option, depth) for option in value.options])
    known = items_of_table(value) if depth and value.kind is Kind.DICT else None
    if known is not None:
        return table({key: _leaves(change, item, depth - 1) for key, item in known.items()})
    if depth and value.kind in {Kind.LIST, Kind.TUPLE, Kind.DICT}:
        if value.items is not None:
            return sequence([_leaves(change, item, depth - 1) for item in value.items], value.kind)
        return (
            BOTTOM
            if value.element is None
            else list_of(_leaves(change, value.element, depth - 1), value.kind)
        )
    return change(value)

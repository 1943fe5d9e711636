"""The values that calls pass to the parameters of a function of the project."""

from __future__ import annotations

from syncscan.check.infer.source.index import Function, Parameter
from syncscan.check.prove.frame import Arguments
from syncscan.check.prove.values import TOP, AbstractValue, constant_of, join

_WITHOUT_SELF = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})


def bound(function: Function, args: Arguments, *, has_receiver: bool) -> dict[str, AbstractValue]:
    """Return the value of each parameter at a call; those of positions are open where it may or may not pass the receiver."""
    function.module.read()  # for the defaults
    parameters = function.parameters
    if function.owner is not None and not function.is_static:
        parameters = parameters[1:]
        if not has_receiver or function.name in _WITHOUT_SELF:
            args = Arguments((), args.kwargs, spreads=True)
    return {each.name: _given(each, position, args) for position, each in enumerate(parameters)}


def _given(parameter: Parameter, position: int, args: Arguments) -> AbstractValue:
    if parameter.star:
        return TOP
    found = args.given(position, parameter.name)
    if found is None:
        return constant_of(parameter.default) if parameter.default is not None else TOP
    if args.spreads and parameter.default is not None and parameter.name not in args.kwargs:
        return join(found, constant_of(parameter.default))
    return found

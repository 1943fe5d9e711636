"""The values that calls pass to the parameters of a function of the project."""

from __future__ import annotations

from syncscan.check.infer.source.index import TAKE_CLASSES, Function, Parameter
from syncscan.check.prove.frame import Arguments
from syncscan.check.prove.values import TOP, AbstractValue, constant_of, join


def bound(function: Function, args: Arguments, *, has_receiver: bool) -> dict[str, AbstractValue]:
    """Return the value of each parameter at a call; those of positions are open where it may or may not pass the receiver."""
    parameters = function.parameters
    if function.owner is not None and not function.is_static:
        parameters = parameters[1:]
        if not has_receiver or function.name in TAKE_CLASSES:
            args = Arguments((), args.kwargs, spreads=True)
    return {each.name: _given(function, each, position, args) for position, each in enumerate(parameters)}


def _given(function: Function, parameter: Parameter, position: int, args: Arguments) -> AbstractValue:
    if parameter.star:
        return TOP
    found = args.given(position, parameter.name)
    if found is None:
        return _default(function, parameter)
    if args.spreads and parameter.default is not None and parameter.name not in args.kwargs:
        return join(found, _default(function, parameter))
    return found


def _default(function: Function, parameter: Parameter) -> AbstractValue:
    """Return the default of a parameter, anything without one; only then the file of the function is read."""
    if parameter.default is None:
        return TOP
    function.module.read()
    return constant_of(parameter.default)

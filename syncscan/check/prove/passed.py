"""The values that calls pass to the parameters of a function of the project."""

from __future__ import annotations

import ast

from syncscan.check.infer.source.index import TAKE_CLASSES, Function
from syncscan.check.infer.source.parameters import Parameter
from syncscan.check.prove.frame import Arguments, Walks
from syncscan.check.prove.names import module_value
from syncscan.check.prove.uses import changed_inside
from syncscan.check.prove.values import TOP, AbstractValue, constant_of, join


def bound(
    prover: Walks, function: Function, args: Arguments, *, has_receiver: bool
) -> dict[str, AbstractValue]:
    """Return the value of each parameter at a call; those of positions are open where it may or may not pass the receiver."""
    parameters = function.parameters
    if function.owner is not None and not function.is_static:
        parameters = parameters[1:]
        if not has_receiver or function.name in TAKE_CLASSES:
            args = Arguments((), args.kwargs, spreads=True)
    return {
        each.name: _given(prover, function, each, position, args) for position, each in enumerate(parameters)
    }


def _given(
    prover: Walks, function: Function, parameter: Parameter, position: int, args: Arguments
) -> AbstractValue:
    if parameter.star:
        return TOP
    if parameter.keyword_only and args.by_position:
        args = Arguments((), args.kwargs)
    found = args.given(position, parameter.name)
    if found is None:
        return _default(prover, function, parameter)
    if args.spreads and parameter.default is not None and parameter.name not in args.kwargs:
        return join(found, _default(prover, function, parameter))
    return found


def _default(prover: Walks, function: Function, parameter: Parameter) -> AbstractValue:
    """Return the default of a parameter, anything without one; only then the file of the function is read."""
    if parameter.default is None:
        return TOP
    function.module.read()
    default = parameter.default
    if isinstance(default, ast.Name) and _is_of_module(function, default.id):
        return module_value(prover, function.module, default.id)
    return constant_of(default)


def _is_of_module(function: Function, name: str) -> bool:
    """Return whether a name in the signature of a function is one of the module, and of no class or function around it."""
    cls = function.owner
    if function.parent is not None or (cls is not None and cls.parent is not None):
        return False
    return cls is None or name not in changed_inside(cls.node)

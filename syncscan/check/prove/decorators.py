"""Decorators: the code that they run where a function is defined, and what a call of the function then reaches."""

from __future__ import annotations

import ast

from syncscan.check.infer.source.index import Class, Function
from syncscan.check.infer.source.syntax import last_name
from syncscan.check.prove.frame import Arguments, WalkFrame
from syncscan.check.prove.identity import gives_back
from syncscan.check.prove.packages import TRANSPARENT_DECORATORS
from syncscan.check.prove.values import BOTTOM, TOP, AbstractValue, join_all
from syncscan.model import Kind
from syncscan.syntax.names import dotted_name

_BACKENDS = frozenset({"inductor", "eager", "aot_eager", "cudagraphs"})


def decorate(frame: WalkFrame, node: ast.AST, function: Function | Class) -> bool:
    """Walk the decorators of a function or a class; return whether a call of it gives what its own body returns."""
    is_plain = True
    for place, (name, definition, is_made) in enumerate(frame.source.decoration(function)):
        if isinstance(definition, Function):
            frame.calls(node, definition)
            if not gives_back(definition):
                _calls_replacement(frame, node, function, definition, is_made=is_made)
                is_plain = False
        elif isinstance(definition, Class):
            _calls_all(frame, node, definition)
            is_plain = False
        elif name.rpartition(".")[2] in {"setter", "getter", "deleter"} or name in TRANSPARENT_DECORATORS:
            continue
        elif _compiles(frame, function, place):
            frame.assume(
                f"`torch.compile` has compiled `{function.qualname}` to code that blocks no more than the source"
            )
        else:
            if frame.prover.ran.called(frame.module, node) is None:  # else the run says what the call reached
                reason = f"the decorator `@{name}` of `{function.qualname}` is not known"
                frame.unknown(node, reason, fact=_WITHOUT)
            is_plain = False
    return is_plain


_WITHOUT = "take the decorator off, or declare the function under [tool.syncscan.operations]"


def _compiles(frame: WalkFrame, function: Function | Class, place: int) -> bool:
    """Return whether a decorator is ``torch.compile`` with a backend of torch; another one may do anything."""
    decorator = getattr(function.node, "decorator_list", ())[place]
    name = dotted_name(decorator.func if isinstance(decorator, ast.Call) else decorator)
    if frame.source.program.lookup_dotted(function.module, name, function.parent) != "torch.compile":
        return False
    keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
    backends = [each.value for each in keywords if each.arg in {"backend", None}]
    return all(isinstance(each, ast.Constant) and each.value in _BACKENDS for each in backends)


def keep_types(frame: WalkFrame, function: Function) -> bool:
    """Return whether each decorator promises the type that it is given: ``def cached(function: F) -> F``."""
    return all(
        isinstance(definition, Function) and not is_made and _keeps_type(frame, definition)
        for _, definition, is_made in frame.source.decoration(function)
    )


def _keeps_type(frame: WalkFrame, decorator: Function) -> bool:
    given, result = decorator.plain[0].annotation if decorator.plain else None, decorator.result
    if not (isinstance(given, ast.Name) and isinstance(result, ast.Name) and given.id == result.id):
        return False
    if any(each.name == given.id for each in getattr(decorator.node, "type_params", ())):
        return True
    found = frame.source.bindings(decorator.module).by_name.get(given.id, ())
    return bool(found) and all(map(_is_type_variable, found))


def _is_type_variable(binding: object) -> bool:
    value = binding.value if isinstance(binding, ast.Assign) else None
    return isinstance(value, ast.Call) and last_name(value.func) == "TypeVar"


def _calls_replacement(
    frame: WalkFrame, node: ast.AST, function: Function | Class, decorator: Function, *, is_made: bool
) -> None:
    """Walk the call of what a decorator puts in the place of a function; a function that it returns counts as called there."""
    value = _made_by(frame, decorator) if is_made else frame.prover.asked(decorator).returned
    for option in value.options or (value,):
        if option is BOTTOM:
            frame.walk.is_partial = True
        elif isinstance(option.payload, Class) and option.payload is not function:
            _calls_all(frame, node, option.payload)
        elif option.kind is Kind.MODULE and isinstance(option.payload, str):
            frame.call(node, option, Arguments(spreads=True))
        elif option.kind is Kind.UNKNOWN and frame.prover.ran.called(frame.module, node) is None:
            reason = f"what the decorator `@{decorator.name}` makes of `{function.qualname}` is not known"
            frame.unknown(node, reason)


def _made_by(frame: WalkFrame, factory: Function) -> AbstractValue:
    """Return what a decorator returns that a call makes: ``@cached(size=3)``."""
    value = frame.prover.asked(factory).returned
    options = value.options or (value,)
    made = [each.payload for each in options if isinstance(each.payload, Function)]
    return (
        join_all([frame.prover.asked(each).returned for each in made]) if len(made) == len(options) else TOP
    )


def _calls_all(frame: WalkFrame, node: ast.AST, cls: Class) -> None:
    """Note the making of an object of a class, and all special methods that Python may run on it."""
    for name in ("__new__", "__init__", *frame.source.special_names(cls)):
        for each in frame.source.overrides(cls, name):
            frame.calls(node, each)


def is_context(function: Function) -> bool:
    """Return whether calls of a function make a context of a generator."""
    return any(
        name.rpartition(".")[2] in {"contextmanager", "asynccontextmanager"} for name in function.decorators
    )

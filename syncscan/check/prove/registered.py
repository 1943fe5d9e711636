"""Operations that the project registers with torch: a call of ``torch.ops.LIBRARY.NAME`` runs the function registered for it.

Three forms are followed, all at the top of a file: ``library.impl("scale", scale, "CUDA")``, ``@custom_op("library::scale")``, and a
call of a helper with "custom_op" in its name that passes its own arguments on, ``register_custom_op(op_name="scale", op_func=scale)``.
If any registration has another form, or a name that is computed, nothing is known of the operation.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from syncscan.check.infer.source.index import Function, Module
from syncscan.check.infer.source.syntax import dotted_name, last_name, walk
from syncscan.check.prove.frame import Walks
from syncscan.check.prove.names import module_value
from syncscan.model import Kind

_OF_TORCH = "torch.ops."
# More functions may run for such an operation: kernels of other devices, and what prepares a backward pass.
_ADDS = re.compile(r"register_(kernel|autograd|torch_dispatch|vmap)|setup_context|device_types")
_PAIR = 2  # a name and a function
_NOTHING = (None, None)


class Implementation(NamedTuple):
    """A function that runs for an operation; ``is_bare`` if the decorator that registers it gets the function itself."""

    function: Function
    is_bare: bool = False


class _UnknownError(Exception):
    """A registration that is not understood."""


class _Helper(NamedTuple):
    """A function that registers one argument under another, each by its parameter and its position."""

    name: str
    parameters: tuple[str, str]
    positions: tuple[int, int]


def implementations(prover: Walks, name: str) -> list[Implementation] | None:
    """Return the functions that the project registers for an operation of torch; None where it may register others."""
    library, _, operation = name.removeprefix(_OF_TORCH).removesuffix(".default").partition(".")
    if not name.startswith(_OF_TORCH):
        return []
    known: dict[str, list[Implementation] | None] = prover.source.registered
    if name not in known:
        try:
            known[name] = [*_all_of(prover, library, operation)]
        except _UnknownError:
            known[name] = None
    return known[name]


def _all_of(prover: Walks, library: str, operation: str) -> Iterator[Implementation]:
    modules = [*_registering(prover, f"{library}::{operation}")]
    helpers = [helper for module in modules for helper in _helpers_in(module, library)]
    calls = ((module, each) for module in modules for each in walk(module.tree) if isinstance(each, ast.Call))
    for module, call in calls:
        named, function = _registration(module, call, helpers, library)
        if named is not None and _names(named, library, operation, module):
            yield (
                _decorated(prover, module, call)
                if function is None
                else _resolved(prover, module, call, function)
            )


def _registering(prover: Walks, name: str) -> Iterator[Module]:
    """Yield the files that may register operations; other files may add kernels to one of this whole name."""
    for module in prover.source.modules:
        text = module.lines.text
        if name in text and _ADDS.search(text):
            raise _UnknownError
        if "custom_op" in text or ".impl(" in text:
            yield module


def _names(named: ast.expr, library: str, operation: str, module: Module) -> bool:
    """Return whether a registration is for an operation; overloads, and kernels of several devices, are not understood."""
    text = named.value if isinstance(named, ast.Constant) else None
    if not isinstance(text, str):
        raise _UnknownError
    where, _, what = text.rpartition("::")
    if where not in {"", library} or what.partition(".")[0] != operation:
        return False
    if what != operation or _ADDS.search(module.lines.text):
        raise _UnknownError
    return True


def _helpers_in(module: Module, library: str) -> Iterator[_Helper]:
    """Yield the helpers of a file. A name that is computed elsewhere may be that of any operation of the library."""
    for call in walk(module.tree):
        if isinstance(call, ast.Call) and _is_impl(call) and not isinstance(call.args[0], ast.Constant):
            helper = _helper_around(module, call)
            if helper is not None:
                yield helper
            elif library in (_libraries_of(module, call) or {library}):
                raise _UnknownError


def _helper_around(module: Module, call: ast.Call) -> _Helper | None:
    """Return the helper whose parameters a call of ``impl`` is given; None for calls in other functions."""
    for function in module.functions:
        parameters = [each.name for each in function.parameters]
        named = [each.id for each in call.args[:2] if isinstance(each, ast.Name) and each.id in parameters]
        if "custom_op" in function.name and len(named) == _PAIR and call in [*walk(function.node)]:
            names = [each for each in walk(function.node) if isinstance(each, ast.Name) and each.id in named]
            if all(isinstance(each.ctx, ast.Load) for each in names) and function.owner is None:
                return _Helper(
                    function.name,
                    (named[0], named[1]),
                    (parameters.index(named[0]), parameters.index(named[1])),
                )
    return None


def _is_impl(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "impl" and len(call.args) > 1


def _registration(
    module: Module, call: ast.Call, helpers: Sequence[_Helper], library: str
) -> tuple[ast.expr | None, ast.expr | None]:
    """Return the name and the function that a call registers: no name for other calls, no function for a decorator."""
    called = last_name(call.func)
    helper = next((each for each in helpers if each.name == called), None)
    if helper is not None:
        return _given_to(helper, call)
    if _is_impl(call) and isinstance(call.args[0], ast.Constant):
        return _given_to_impl(module, call, library)
    may_register = called == "custom_op" or ("custom_op" in called and "register" in called)
    return (call.args[0] if may_register and call.args else None), None


def _given_to(helper: _Helper, call: ast.Call) -> tuple[ast.expr, ast.expr]:
    named, function = (
        _argument(call, *each) for each in zip(helper.parameters, helper.positions, strict=True)
    )
    if named is None or function is None:
        raise _UnknownError
    return named, function


def _given_to_impl(module: Module, call: ast.Call, library: str) -> tuple[ast.expr | None, ast.expr | None]:
    """Return the name and the function of ``library.impl("scale", scale)``, or of ``impl("library::scale", "CUDA", scale)``."""
    if "::" not in ast.unparse(call.args[0]):
        libraries = _libraries_of(module, call)
        if libraries is None:
            raise _UnknownError
        if library not in libraries:
            return _NOTHING
    others = [each for each in call.args[1:] if not isinstance(each, ast.Constant)]
    return call.args[0], others[0] if others else call


def _argument(call: ast.Call, name: str, place: int) -> ast.expr | None:
    given = {each.arg: each.value for each in call.keywords}
    if None in given or any(isinstance(each, ast.Starred) for each in call.args):
        raise _UnknownError
    return call.args[place] if place < len(call.args) else given.get(name)


def _libraries_of(module: Module, call: ast.Call) -> set[str] | None:
    """Return the libraries that the receiver of ``impl`` may be, by all assignments of its name in the file; None if one is unknown."""
    assert isinstance(call.func, ast.Attribute)
    found, names = set[str](), [dotted_name(call.func.value)]
    for name in names:  # which grows meanwhile
        values = [
            each.value
            for each in walk(module.tree)
            if isinstance(each, ast.Assign) and name in map(dotted_name, each.targets)
        ]
        if not values:
            return None
        for value in values:
            if isinstance(value, ast.Name):
                names += [value.id] if value.id not in names else []
            elif (library := _made_by(value)) is not None:
                found.add(library)
            else:
                return None
    return found


def _made_by(value: ast.expr) -> str | None:
    """Return the name of the library that ``Library("own", "FRAGMENT")`` makes; None for other values."""
    named = value.args[0] if isinstance(value, ast.Call) and value.args else None
    is_made = isinstance(value, ast.Call) and last_name(value.func) == "Library"
    return (
        named.value if is_made and isinstance(named, ast.Constant) and isinstance(named.value, str) else None
    )


def _resolved(prover: Walks, module: Module, call: ast.Call, function: ast.expr) -> Implementation:
    is_at_the_top = any(isinstance(each, ast.Expr) and each.value is call for each in module.tree.body)
    value = module_value(prover, module, function.id) if isinstance(function, ast.Name) else None
    if (
        not is_at_the_top
        or value is None
        or not isinstance(value.payload, Function)
        or value.kind is not Kind.FUNCTION
    ):
        raise _UnknownError
    return Implementation(value.payload)


def _decorated(prover: Walks, module: Module, call: ast.Call) -> Implementation:
    for node in module.tree.body:
        if isinstance(node, ast.FunctionDef) and node.decorator_list == [call]:
            function = prover.source.function_at(module, node)
            if (
                function is not None
                and prover.source.program.full_name(call, module) == "torch.library.custom_op"
            ):
                return Implementation(function, is_bare=True)
    raise _UnknownError

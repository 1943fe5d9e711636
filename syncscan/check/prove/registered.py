"""Operations that the project registers with torch: a call of ``torch.ops.LIBRARY.NAME`` runs the function registered for it.

Four forms are followed, all at the top of a file: ``library.impl("scale", scale, "CUDA")``, ``@custom_op("library::scale")``, and calls
of a helper with "custom_op" in its name, or of a ``functools.partial`` of it. The helper passes its own arguments on:
``register_custom_op(op_name="scale", op_func=scale)``.
If any registration has another form, or a name that is computed, nothing is known of the operation.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from syncscan.check.infer.source.index import Function, Module
from syncscan.check.infer.source.syntax import last_name
from syncscan.check.prove.frame import Walks
from syncscan.check.prove.names import module_value
from syncscan.check.prove.registrations import ADDS, File, Helper, is_impl
from syncscan.model import Kind

_OF_TORCH = "torch.ops."
_NOTHING = (None, None)


class Implementation(NamedTuple):
    """A function that runs for an operation; ``is_bare`` if the decorator that registers it gets the function itself."""

    function: Function
    is_bare: bool = False


class _UnknownError(Exception):
    """A registration that is not understood."""


def implementations(prover: Walks, name: str) -> list[Implementation] | None:
    """Return the functions that the project registers for an operation of torch; None where it may register others."""
    library, _, operation = name.removeprefix(_OF_TORCH).removesuffix(".default").partition(".")
    if not name.startswith(_OF_TORCH):
        return []
    known: dict[str, list[Implementation] | None] = prover.source.registrations.known
    if name not in known:
        try:
            known[name] = [*_all_of(prover, library, operation)]
        except _UnknownError:
            known[name] = None
    return known[name]


def _all_of(prover: Walks, library: str, operation: str) -> Iterator[Implementation]:
    every = prover.source.registrations
    if any(f"{library}::{operation}" in text for text in every.adding):
        raise _UnknownError
    if any(library in (libraries or {library}) for file in every.files for libraries in file.computed):
        raise _UnknownError  # under a computed name, which may be that of any operation of the library
    for file, call in [(each, call) for each in every.files for call in each.calls]:
        named, function = _registration(file, call, every.helpers, library)
        if named is not None and _names(named, library, operation, file.module):
            yield (
                _decorated(prover, file.module, call)
                if function is None
                else _resolved(prover, file.module, call, function)
            )


def _names(named: ast.expr, library: str, operation: str, module: Module) -> bool:
    """Return whether a registration is for an operation; overloads, and kernels of several devices, are not understood."""
    text = named.value if isinstance(named, ast.Constant) else None
    if not isinstance(text, str):
        raise _UnknownError
    where, _, what = text.rpartition("::")
    if where not in {"", library} or what.partition(".")[0] != operation:
        return False
    if what != operation or ADDS.search(module.lines.text):
        raise _UnknownError
    return True


def _registration(
    file: File, call: ast.Call, helpers: Sequence[Helper], library: str
) -> tuple[ast.expr | None, ast.expr | None]:
    """Return the name and the function that a call registers: no name for other calls, no function for a decorator."""
    called = last_name(call.func)
    if called in file.partials or any(each.name == called for each in helpers):
        return _given_to(_helper_of(file, call, helpers), call)
    if is_impl(call) and isinstance(call.args[0], ast.Constant):
        return _given_to_impl(file, call, library)
    may_register = called == "custom_op" or ("custom_op" in called and "register" in called)
    if may_register and call.keywords and not call.args:
        raise _UnknownError
    return (call.args[0] if may_register and call.args else None), None


def _helper_of(file: File, call: ast.Call, helpers: Sequence[Helper]) -> Helper:
    """Return the only helper that a call of it, or of a partial of it, may be one of."""
    called, given = last_name(call.func), frozenset[str]()
    if called in file.partials:
        called, given = last_name(file.partials[called].function), file.partials[called].given
    named = [each for each in helpers if each.name == called]
    if len(named) != 1 or not given.isdisjoint(named[0].parameters):
        raise _UnknownError
    return named[0]


def _given_to(helper: Helper, call: ast.Call) -> tuple[ast.expr, ast.expr]:
    named, function = (
        _argument(call, *each) for each in zip(helper.parameters, helper.positions, strict=True)
    )
    if named is None or function is None:
        raise _UnknownError
    return named, function


def _given_to_impl(file: File, call: ast.Call, library: str) -> tuple[ast.expr | None, ast.expr | None]:
    """Return the name and the function of ``library.impl("scale", scale)``, or of ``impl("library::scale", "CUDA", scale)``."""
    if "::" not in ast.unparse(call.args[0]):
        libraries = file.libraries[call]
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

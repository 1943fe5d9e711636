"""Operations that the project registers with torch: ``torch.ops.LIBRARY.NAME`` runs the function that a call or decorator names for it.

Only registrations at the top of a module count. They have the name of the operation as a text, and a function of the project:
``library.impl("scale", scale, "CUDA")``, ``register_custom_op(op_name="scale", op_func=scale)``, ``@custom_op("library::scale")``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from syncscan.check.infer.source.index import Function, Module
from syncscan.check.infer.source.syntax import dotted_name, last_name
from syncscan.check.prove.source import Definitions

_OF_TORCH = "torch.ops."
_REGISTERS = ("impl", "custom_op")  # parts of the names of functions that register an implementation
_STAND_INS = ("fake", "meta", "abstract")  # which run while torch traces, in place of the operation


class Implementation(NamedTuple):
    """A function that runs for an operation; ``is_bare`` if the decorator that registers it gets the function itself."""

    function: Function
    is_bare: bool = False


def implementations(source: Definitions, name: str) -> list[Implementation]:
    """Return the functions that a project registers for an operation of torch, by its full name; none for other operations."""
    parts = name.removeprefix(_OF_TORCH).split(".") if name.startswith(_OF_TORCH) else []
    if len(parts) < 2:
        return []
    texts = {parts[1], "::".join(parts[:2])}
    mentioning = (module for module in source.modules if module.lines.mention(parts[1]))
    return [each for module in mentioning for each in _registered_in(source, module, texts)]


def _registered_in(source: Definitions, module: Module, texts: set[str]) -> Iterator[Implementation]:
    for node in module.tree.body:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _registers(node.value, texts):
            yield from _functions_in(source, module, node.value)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            decorators = [each for each in node.decorator_list if isinstance(each, ast.Call)]
            function = source.function_at(module, node)
            if function is not None and any(_registers(each, texts) for each in decorators):
                yield Implementation(function, is_bare=len(node.decorator_list) == 1)


def _registers(call: ast.Call, texts: set[str]) -> bool:
    """Return whether a call registers an implementation under one of some names."""
    name = last_name(call.func)
    given = [*call.args, *(each.value for each in call.keywords)]
    is_named = any(isinstance(each, ast.Constant) and each.value in texts for each in given)
    return is_named and any(part in name for part in _REGISTERS) and not _stands_in(name)


def _functions_in(source: Definitions, module: Module, call: ast.Call) -> Iterator[Implementation]:
    given = [*call.args, *(each.value for each in call.keywords if not _stands_in(each.arg or ""))]
    for each in given:
        name = dotted_name(each)
        found = source.program.lookup_dotted(module, name) if name else None
        if isinstance(found, Function):
            yield Implementation(found)


def _stands_in(name: str) -> bool:
    return any(part in name for part in _STAND_INS)

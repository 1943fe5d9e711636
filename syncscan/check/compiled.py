"""Functions that run compiled only, by `torch.compile`: the compiler makes constants of what they build on the host.

In compiled functions, `torch.tensor(2.0, device=x.device)`, an index `x[[0, 2]]`, a store `x[ids] = 1` and the checks of
`torch.linalg.inv` do not block. A read, a branch, a mask as an index, and a copy of an argument do
(`benchmarks/compiled.py`, torch 2.11, H200).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

from syncscan.check.allowed import Callee, callers_of, run_by
from syncscan.check.infer.dataflow.called import Called
from syncscan.check.infer.source.index import Class, Function, Module
from syncscan.check.infer.source.syntax import dotted_name, walk

_COMPILES = "torch.compile"
_LEAVES = frozenset({"torch.compiler.disable", "torch._dynamo.disable", "torch._disable_dynamo"})


def compiled_only(
    modules: Iterable[Module], callees: Mapping[Function, Mapping[Callee, Called]]
) -> set[Function]:
    """Return the functions with a decorator that compiles, and those that only such functions call."""
    naming = [module for module in modules if module.lines.mention("compile")]
    decorators = {_COMPILES, *(name for module in naming for name in _compiling_decorators(module))}
    found = {each for module in naming for each in module.functions if _is_compiled(each, decorators)}
    if not found:
        return found
    callers = callers_of(callees)
    ahead = [*found]
    while ahead:
        for each in _run_by_all(callees.get(ahead.pop(), ())):
            if each not in found and found.issuperset(callers[each]) and each.decorators.isdisjoint(_LEAVES):
                found.add(each)
                ahead.append(each)
    return found


def _run_by_all(callees: Iterable[Callee]) -> list[Function]:
    return [each for callee in callees for each in run_by(callee) if isinstance(each, Function)]


def _is_compiled(function: Function, decorators: set[str]) -> bool:
    """Return whether a decorator compiles a function, or a class whose ``forward`` the function is."""
    if not function.decorators.isdisjoint(decorators):
        return True
    owner = function.owner
    return (
        isinstance(owner, Class)
        and function.name == "forward"
        and not owner.decorators.isdisjoint(decorators)
    )


def _compiling_decorators(module: Module) -> Iterator[str]:
    """Yield the names of functions of a module that return what they are given compiled; decorators of the project have no other."""
    for function in module.functions:
        if function.owner is None and function.plain and module.lines.mention(_COMPILES):
            given = function.plain[0].name
            if any(_compiles(node, given) for node in walk(function.node) if isinstance(node, ast.Return)):
                yield function.name


def _compiles(node: ast.Return, given: str) -> bool:
    made = node.value
    if not isinstance(made, ast.Call) or dotted_name(made.func) != _COMPILES or not made.args:
        return False
    return isinstance(made.args[0], ast.Name) and made.args[0].id == given

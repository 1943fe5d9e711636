"""Functions that run compiled only, by `torch.compile`: the compiler makes constants of what they build of literals and sizes.

In compiled functions, `torch.tensor(2.0, device=x.device)`, an index `x[[0, 2]]`, a store `x[ids] = 1` and the checks of
`torch.linalg.inv` do not block. A read, a branch, a mask as an index, and a copy of an argument do
(`benchmarks/compiled.py`, torch 2.11, H200).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from syncscan.check.allowed import Callee, callers_of, run_by
from syncscan.check.infer.dataflow.called import Called
from syncscan.check.infer.source.index import Function
from syncscan.check.infer.source.texts import is_private

# Projects have decorators of their own, such as `conditional_torch_compile` and `support_torch_compile`.
_COMPILES = re.compile(r"torch\.compile|(\w+\.)*(\w+_)?torch_compile")
_LEAVES = frozenset({"torch.compiler.disable", "torch._dynamo.disable", "torch._disable_dynamo"})


def compiled_by_decorator(functions: Iterable[Function]) -> frozenset[Function]:
    """Return the functions that a decorator compiles, and the ``forward`` of such classes."""
    return frozenset([each for each in functions if _is_compiled(each)])


def compiled_only(
    starts: frozenset[Function], callees: Mapping[Function, Mapping[Callee, Called]]
) -> set[Function]:
    """Return compiled functions, with the functions and private methods that only such functions call."""
    found = {*starts}
    callers = callers_of(callees) if found else {}
    ahead = [*found]
    while ahead:
        for each in _run_by_all(callees.get(ahead.pop(), ())):
            is_open = each.owner is not None and not is_private(each.name)
            if each in found or is_open or not each.decorators.isdisjoint(_LEAVES):
                continue
            if found.issuperset(callers[each]):
                found.add(each)
                ahead.append(each)
    return found


def _run_by_all(callees: Iterable[Callee]) -> list[Function]:
    return [each for callee in callees for each in run_by(callee) if isinstance(each, Function)]


def _is_compiled(function: Function) -> bool:
    if any(map(_COMPILES.fullmatch, function.decorators)):
        return True
    owner = function.owner
    return (
        owner is not None and function.name == "forward" and any(map(_COMPILES.fullmatch, owner.decorators))
    )

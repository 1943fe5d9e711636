"""Functions that no program for a GPU runs: nothing calls them, or only what is left out or is one of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from syncscan.check.infer.index import Function, Module

_PRIVATE = re.compile(r"\b_[A-Za-z]\w*")
# Bases that call no method of a subclass by a name of its own choice.
_HARMLESS = frozenset({"object", "abc.ABC", "torch.nn.Module", "typing.Generic", "typing.Protocol"})


def unreached(modules: Sequence[Module], elsewhere: Iterable[Function]) -> set[Function]:
    """Private functions that are named nowhere, and those called from one of them or from ``elsewhere`` alone."""
    functions = [function for module in modules for function in module.functions]
    suspects = {*elsewhere, *_named_nowhere(modules)}
    found: set[Function] = set()
    while True:
        called = {callee for function in functions if function not in found for callee in function.callees}
        more = (suspects | {callee for function in found for callee in function.callees}) - called
        if more <= found:
            return found
        found |= more


def _named_nowhere(modules: Sequence[Module]) -> Iterator[Function]:
    """Functions whose private name stands in the project only where they are defined."""
    inside = [module for module in modules if not module.is_outside]
    named = Counter(name for module in inside for line in module.lines for name in _PRIVATE.findall(line))
    private = [f for module in inside for f in module.functions if _PRIVATE.fullmatch(f.name)]
    defined = Counter(function.name for function in private)
    for function in private:
        if named[function.name] == defined[function.name] and _is_called_by_name(function):
            yield function


def _is_called_by_name(function: Function) -> bool:
    """Whether a call has to name the function: no decorator and no base from elsewhere hands it on."""
    owner = function.owner
    bases = {base for cls in owner.mro() for base in cls.external_bases} if owner is not None else set()
    return not function.decorators and bases <= _HARMLESS

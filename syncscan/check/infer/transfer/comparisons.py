"""Python's functions that compare or test one result of the program's own code after another.

``max``, ``min``, ``sorted`` and ``list.sort`` compare the results of their ``key``, or ask the objects: ``__lt__`` of a class of the project.
``filter`` tests the results of its function. Each answer that is a GPU tensor is read, as one of ``max([t, u])`` is.
"""

from __future__ import annotations

from collections.abc import Sequence

from syncscan.check.infer.domain.basic import NONE
from syncscan.check.infer.domain.lattice import join_all
from syncscan.check.infer.domain.value import BOTTOM, AbstractValue
from syncscan.check.infer.transfer.call import Call
from syncscan.check.infer.transfer.conditions import Bound
from syncscan.check.infer.transfer.point import Point
from syncscan.check.infer.transfer.special_methods import elements, run


def note_comparisons(at: Point, name: str, call: Call, methods: Sequence[str]) -> AbstractValue:
    """Record a call that compares its arguments, or the items of the only one; return the join of these."""
    compared = join_all(call.args) if len(call.args) > 1 else elements(at, call.first)
    key = call.kwargs.get("key", NONE)
    keys = compared if key is NONE else at.call(key, Call((compared,), {}, call.site))
    entry = "builtins.sorted" if name == "builtins.list.sort" else name
    _note(at, name, entry, call, join_all([_answer(at, option, methods) for option in keys.options]))
    return compared


def _answer(at: Point, value: AbstractValue, methods: Sequence[str]) -> AbstractValue:
    """Return the result of the first method that a class of the project defines for a comparison; else the value itself."""
    found = (run(at, value, method, value) for method in methods)
    return next((answer for answer in found if answer is not None), value)


def note_tests(at: Point, call: Call, tested: AbstractValue) -> None:
    """Record a call of ``filter``, which asks for truth as ``all`` does."""
    function = call.first
    answers = tested if function is NONE else at.call(function, Call((tested,), {}, call.site))
    _note(at, "builtins.filter", "builtins.all", call, answers)


def _note(at: Point, name: str, entry: str, call: Call, answers: AbstractValue) -> None:
    """Record a call as one of the operation table that reads these answers; what may be None is no answer."""
    operation = at.context.table.find(entry)
    if operation is not None and answers is not BOTTOM:
        at.note_bound(name, call, Bound(operation, {"input": (join_all(answers.options),)}))

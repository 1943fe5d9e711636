"""Tests of counters that let statements run in few steps: ``if step % 100 == 0``, ``if batch_idx > 0: return``.

A question such as ``should_log`` asks a counter elsewhere. A flag for debugging is hardly ever set. With gradient accumulation, one optimizer step is one training step. Statements that step an optimizer therefore run per step.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator, Sequence

from syncscan.check.frequency.debugging import debugs
from syncscan.check.frequency.epochs import OPTIMIZER_STEP, Loop, called_name
from syncscan.check.infer.source.syntax import last_name, walk

Body = Sequence[ast.stmt]

_COUNTS = re.compile(
    r"_*((?!num|max|min|total|every).*_)?((step|iter|iteration|epoch)(s|_?(count(er)?|num|nr|no|idx|index))?|batch_?(idx|index|id|i|nr|num))_*"
)
_OF_BATCHES = re.compile(
    r"_*(.*_)?(batch_?(idx|index|id|i|nr|num)|(global|current)_(step|epoch|iter|iteration)|iteration)_*"
)
# A program logs and saves in few steps: ``if self.should_log(step):``.
_ASKS = re.compile(
    r"_*should_(update_)?(logs?|print|report|record|save|checkpoint|dump|plot|visuali[sz]e|eval|evaluate|validate|profile|warn)(_.*)?"
)
_INTERVALS = re.compile(r"_*(.*_)?(interval|freq|frequency|every)(_(n_)?(steps?|iters?|batches))?_*")
_UPDATES = frozenset({"step", "unscale_", "clip_grad_norm_", "training_step", "train_step"})
_WARM_UP = re.compile(r"_*(.*_)?warm_?up.*")  # passes once


def rarely_behind(node: ast.If, after: Body, counters: frozenset[str]) -> Iterator[Body]:
    """Yield the statements that a test lets run in few steps: a branch of the test, or the rest after one that leaves.

    ``counters`` are the names that count the batches of a loop around the test.
    """
    leaves = not node.orelse and isinstance(node.body[-1], (ast.Return, ast.Continue))
    rest = after if leaves else node.orelse
    is_accumulation = _computes_gradients(node.body) and _computes_gradients(node.orelse)
    for body, holds in ((node.body, True), (rest, False)) if not is_accumulation else ():
        if body and _is_rare(node.test, counters, holds=holds) and not _updates(body):
            yield body


def counters_of(loop: Loop) -> frozenset[str]:
    """Return the names that count the batches of a loop: ``i`` of ``for i, batch in enumerate(loader)``, and ``i // k``."""
    if isinstance(loop, ast.While) or not isinstance(loop.target, ast.Tuple):
        return frozenset()
    if "enumerate" not in [called_name(each) for each in walk(loop.iter) if isinstance(each, ast.Call)]:
        return frozenset()
    found = {last_name(loop.target.elts[0])}
    for node in loop.body:
        if isinstance(node, ast.Assign) and _is_count(node.value, found):
            found.add(last_name(node.targets[0]))
    return frozenset(found)


def _is_count(value: ast.expr, counters: set[str]) -> bool:
    """Return whether an expression is a counter divided by a number, or with an integer added."""
    if (
        not isinstance(value, ast.BinOp)
        or not isinstance(value.left, ast.Name)
        or value.left.id not in counters
    ):
        return False
    is_shifted = isinstance(value.op, (ast.Add, ast.Sub)) and isinstance(value.right, ast.Constant)
    return isinstance(value.op, ast.FloorDiv) or is_shifted


def _is_rare(test: ast.expr, counters: frozenset[str], *, holds: bool) -> bool:
    """Return whether a test has this outcome in few steps."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _is_rare(test.operand, counters, holds=not holds)
    if isinstance(test, ast.BoolOp):
        return _combines(test, counters, holds=holds)
    if debugs(test, holds=holds):
        return True
    if isinstance(test, (ast.BinOp, ast.Compare)) and _is_about_accumulation(test):
        return False
    if isinstance(test, ast.BinOp):
        return not holds and _is_remainder(test, counters)
    if isinstance(test, (ast.Call, ast.Name, ast.Attribute)):
        return holds and _matches(_ASKS, last_name(test.func if isinstance(test, ast.Call) else test))
    return isinstance(test, ast.Compare) and len(test.ops) == 1 and _compares(test, counters, holds=holds)


def _combines(test: ast.BoolOp, counters: frozenset[str], *, holds: bool) -> bool:
    """Return whether several tests have this outcome in few steps, such as ``step % 100 == 0 or step == last``."""
    parts = [_is_rare(part, counters, holds=holds) for part in test.values]
    if isinstance(test.op, ast.And) is holds:
        return any(parts)
    return any(parts) and all(
        rare or _asks_for_one(part, holds=holds) for rare, part in zip(parts, test.values, strict=True)
    )


def _asks_for_one(test: ast.expr, *, holds: bool) -> bool:
    """Return whether a comparison of two variables has this outcome for a single value of each."""
    if not isinstance(test, ast.Compare) or isinstance(test.comparators[0], ast.Constant):
        return False
    operator = test.ops[0]
    return isinstance(operator, (ast.Eq, ast.NotEq)) and isinstance(operator, ast.Eq) is holds


def _compares(test: ast.Compare, counters: frozenset[str], *, holds: bool) -> bool:
    """Return whether a comparison of a counter has this outcome in few steps."""
    operator, left, right = test.ops[0], test.left, test.comparators[0]
    if isinstance(operator, (ast.Eq, ast.NotEq)):
        is_exact = isinstance(operator, ast.Eq) is holds
        return is_exact and (_is_remainder(left, counters) or _is_first(left, right, counters))
    is_below = isinstance(operator, (ast.Lt, ast.LtE)) is holds
    is_order = isinstance(operator, (ast.Lt, ast.LtE, ast.Gt, ast.GtE))
    return is_order and is_below and _is_first(left, right, counters)


def _is_remainder(node: ast.expr, counters: frozenset[str]) -> bool:
    """Return whether an expression is the remainder of a counter, ``(step + 1) % n``, or that of an interval: ``seen % log_interval``."""
    is_text = isinstance(node, ast.BinOp) and isinstance(node.left, (ast.Constant, ast.JoinedStr))
    if is_text or not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mod):
        return False
    return _matches(_INTERVALS, last_name(node.right)) or any(
        _counts(inner, _COUNTS, counters) for inner in walk(node.left)
    )


def _is_first(left: ast.expr, right: ast.expr, counters: frozenset[str]) -> bool:
    """Return whether a test compares a counter of batches to a constant, or to the end of a warm-up."""
    is_bound = isinstance(right, ast.Constant) or _matches(_WARM_UP, last_name(right))
    return is_bound and _counts(left, _OF_BATCHES, counters)


def _counts(node: ast.AST, names: re.Pattern[str], counters: frozenset[str]) -> bool:
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):  # `state["step"]`
        name = str(node.slice.value)
    elif isinstance(node, (ast.Name, ast.Attribute)):
        name = last_name(node)
    else:
        return False
    return name in counters or _matches(names, name)


@functools.lru_cache(maxsize=4096)
def _matches(names: re.Pattern[str], name: str) -> bool:
    return names.fullmatch(name) is not None


def _is_about_accumulation(test: ast.expr) -> bool:
    """Return whether the divisor of a remainder is a number of steps that accumulate gradients."""
    divisors = [
        each.right for each in walk(test) if isinstance(each, ast.BinOp) and isinstance(each.op, ast.Mod)
    ]
    nodes = (node for divisor in divisors for node in walk(divisor))
    return any("accum" in last_name(node) for node in nodes if isinstance(node, (ast.Name, ast.Attribute)))


def _computes_gradients(body: Body) -> bool:
    return "backward" in _called_in(body)


def _updates(body: Body) -> bool:
    """Return whether statements step an optimizer, by the name of a method or a helper: the test counts the steps of training."""
    return any(name in _UPDATES or OPTIMIZER_STEP.fullmatch(name) is not None for name in _called_in(body))


def _called_in(body: Body) -> list[str]:
    return [called_name(each) for node in body for each in walk(node) if isinstance(each, ast.Call)]

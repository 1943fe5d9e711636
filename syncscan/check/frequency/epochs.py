"""Loops over batches, and the loops over epochs around them, whose other statements run in few steps."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from syncscan.check.infer.source.indexer import blocks_of
from syncscan.check.infer.source.syntax import last_name, walk

Body = Sequence[ast.stmt]
Loop = ast.For | ast.AsyncFor | ast.While
LOOPS = (ast.For, ast.AsyncFor, ast.While)

TRAINS = frozenset({"backward", "training_step", "train_step", "forward_backward"})
_STEPS = TRAINS - {"backward"} | {"validation_step"}
_UPDATES = frozenset({"backward", "clip_grad_norm_", "clip_grad_value_", "unscale_", *_STEPS})
_LOADER = re.compile(
    r"(.*_)?(data_?)?loader|.*_dl|(train|valid|val|test|eval)_?(dataloader|loader|iter|data_iterator)"
)
OPTIMIZER_STEP = re.compile(r"(.*_)?(optim(izer)?|opt)_step")  # a helper
_BATCH = re.compile(r"_?((train|training|data)_)?(mini_?)?batch(_data)?")
_PARTS = re.compile(
    r"(named_)?(modules|children|parameters|buffers)|(\w+_)?(layers|blocks|modules|linears|params|weights|state_dict)"
)
_EPOCH = re.compile(
    r"_*((run|do|fit|train|training|eval|evaluate|test|val|validation|validate)_)*(one_|an_)?epoch"
)


def is_of_an_epoch(name: str) -> bool:
    """Return whether a function of this name runs once for each epoch, with a loop over batches inside."""
    return _EPOCH.fullmatch(name) is not None


def reads_batches(loop: Loop) -> bool:
    """Return whether a loop runs over a loader, by the name of the loader or of a batch.

    A batch may also come from a progress bar around the loader.
    """
    if isinstance(loop, ast.While):
        return False
    return _sets_batch(loop) or any(
        _LOADER.fullmatch(last_name(inner)) is not None
        for inner in walk(loop.iter)
        if isinstance(inner, (ast.Name, ast.Attribute))
    )


def reads_parts(loop: Loop) -> bool:
    """Return whether a loop runs over the parts of a model, such as layers and parameters; it has no steps of its own."""
    if isinstance(loop, ast.While):
        return False
    names = [last_name(inner) for inner in walk(loop.iter) if isinstance(inner, (ast.Name, ast.Attribute))]
    return "range" not in names and any(map(_PARTS.fullmatch, names))  # a range may count rounds


def per_epoch(body: Body) -> Iterator[ast.stmt]:
    """Yield the statements beside the loops over batches, if there are such loops: they run once for each epoch.

    A loop over batches runs over a loader, or each of its iterations is a whole step. If statements beside the loops update the
    model, the loops run over the micro-batches of one step.
    """
    beside = [*outside_loops(body)]
    if any(map(_is_of_batches, _loops_in(body))) and not any(map(_updates, beside)):
        yield from beside


def _is_of_batches(loop: Loop) -> bool:
    return reads_batches(loop) or any(called_name(call) in _STEPS for call in _calls_in(loop))


def _sets_batch(loop: ast.For | ast.AsyncFor) -> bool:
    names = [each.id for each in walk(loop.target) if isinstance(each, ast.Name)]
    return any(_BATCH.fullmatch(name) is not None for name in names)


def _loops_in(body: Body) -> Iterator[Loop]:
    for node in body:
        if isinstance(node, LOOPS):
            yield node
        else:
            for inner in blocks_of(node):
                yield from _loops_in(inner)


def outside_loops(body: Body) -> Iterator[ast.stmt]:
    """Yield the statements that hold no loop, and are in none."""
    for node in body:
        if isinstance(node, LOOPS):
            continue
        if any(isinstance(inner, LOOPS) for inner in walk(node)):
            for inner in blocks_of(node):
                yield from outside_loops(inner)
        else:
            yield node


def _updates(node: ast.stmt) -> bool:
    """Return whether a statement computes gradients or steps an optimizer; a scheduler may count epochs."""
    return any(
        called_name(call) in _UPDATES
        or OPTIMIZER_STEP.fullmatch(called_name(call)) is not None
        or (called_name(call) == "step" and not _is_of_a_scheduler(call))
        for call in _calls_in(node)
    )


def _is_of_a_scheduler(call: ast.Call) -> bool:
    owner = call.func.value if isinstance(call.func, ast.Attribute) else call.func
    return "sched" in last_name(owner).lower()


def called_name(call: ast.Call) -> str:
    """Return the last part of the name of a callee, whatever the name is read from."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else last_name(call.func)


def _calls_in(node: ast.AST) -> Iterable[ast.Call]:
    return (inner for inner in walk(node) if isinstance(inner, ast.Call))

"""The regions of a function that run at other times than the rest: its loops, its guards, and its transfers of attributes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from syncscan.check.frequency.counters import counters_of, rarely_behind
from syncscan.check.frequency.epochs import (
    LOOPS,
    TRAINS,
    Loop,
    called_name,
    is_of_an_epoch,
    outside_loops,
    per_epoch,
    reads_batches,
    reads_parts,
)
from syncscan.check.frequency.flags import first_iteration, with_answers
from syncscan.check.frequency.guards import Body, once_behind
from syncscan.check.frequency.held import with_held
from syncscan.check.frequency.transfers import moved_by
from syncscan.check.infer.source.index import Function
from syncscan.check.infer.source.indexer import blocks_of
from syncscan.check.infer.source.syntax import last_name, path_of, walk
from syncscan.model import When

_MODEL = re.compile(
    r"(?!_*(get|set|load|build|make|create|init|save|register|prepare|check|is|wrap|update)_)(\w+_)?(model|decoder|unet)"
)
# Functions that a framework calls for each batch, without their leading underscores.
_STEP = re.compile(
    r"""forward(_.*)? | execute_(model|fn|batch).* | sample_tokens | prepare_(inputs?|decode(?!r)|prefill).* | update_(?!.*expert).*metadata(_.*)?
    |(train|training|validation|val|test|predict|prediction|inference|eval|evaluation|decode|prefill|generation|engine)_step(_.*)?
    |(inner_)?(train|training)_(one_)?(step|epoch|batch) | (run|process|prefill|decode|extend)_(step|batch)(_.*)? | (on_)?(train_|validation_)?batch_(start|end)
    |compute_loss | init_forward_metadata.* | init_new | propose(_.*)? | apply_logits_processors?""",
    re.VERBOSE,
)
_SAMPLER = re.compile(r"_*(generate|denoise)(_(?!.*(draft|step|token_ids)).*)?")
_RUN = re.compile(r"(\w+_)?(step|forward)|\w+_sample")


@dataclass(frozen=True, slots=True)
class Region:
    """Lines of a function that run at another time than the rest, and the names of what they call.

    `_with_own_calls` leaves out the names that a region calls at other times. ``moved`` is an attribute that a line copies to
    the GPU: once, if nothing else is put there. ``is_of_self`` is for a guard that tests an attribute of the object of a method.
    """

    when: When
    lines: range
    calls: frozenset[str]
    moved: str = ""
    is_of_self: bool = False


# Not those that warn once, which a branch says that runs often.
_WARNS = re.compile(
    r"warnings\.warn|((\w+\.)*_?log(ger|ging)?\.)(warn|warning|error|critical|exception)|(\w+\.)*(rank_zero_)?warn",
    re.IGNORECASE,
)
# Exceptions that end a loop or the program, and report no error: `StopIteration`, `SystemExit`.
_ANSWERS = re.compile(r"Stop\w*|\w*Exit")
_REGISTERS = frozenset({"register_buffer", "register_parameter", "register_module", "add_module"})
# Errors of the GPU, of numerics and of the system; other exceptions, such as StopIteration and KeyError, are answers.
_ERRORS = frozenset({
    "AcceleratorError", "AssertionError", "FloatingPointError", "KeyboardInterrupt", "LinAlgError", "MemoryError", "OSError",
    "OutOfMemoryError", "OverflowError", "RuntimeError", "SystemExit", "ZeroDivisionError",
})  # fmt: skip


def regions_of(function: Function) -> list[Region]:
    """Return the loops of a function, steps among them, its guards, and its transfers of attributes; outer ones first."""
    if isinstance(function.node, ast.Lambda):
        return []
    body = function.node.body
    regions = [*map(_in_few_steps, per_epoch(body))] if is_of_an_epoch(function.name) else []
    regions += _regions(body, function, frozenset(), None)
    return _with_own_calls(regions, regions, function)


def loops_of(function: Function) -> list[Region]:
    """Return the loops of a function that go on until something is found, or that run a model in each iteration."""
    loops = []
    for node in walk(function.node):
        if isinstance(node, LOOPS) and not reads_parts(node):
            calls = with_held(_calls_in(node), function.node)
            if isinstance(node, ast.While) or runs_models(node):
                loops.append(Region(When.STEP, _lines(node), calls))
    return _with_own_calls(loops, regions_of(function), function) if loops else []


def _with_own_calls(regions: list[Region], all_regions: list[Region], function: Function) -> list[Region]:
    """Return regions without the names that they call at other times.

    A guard leaves out names that are called outside of guards too, and a loop those that it calls behind guards alone.
    """
    guards = [region for region in all_regions if region.when is When.ONCE and not region.moved]
    if not guards:
        return regions
    free = [
        node
        for node in walk(function.node)
        if isinstance(node, ast.Call) and not any(node.lineno in guard.lines for guard in guards)
    ]
    elsewhere = with_held(_names_called(free), function.node)
    found = []
    for region in regions:
        own = region.calls
        if region in guards:
            own -= elsewhere
        elif region.when is not When.ONCE:
            called = _names_called(call for call in free if call.lineno in region.lines)
            own = with_held(called, function.node)
        found.append(replace(region, calls=own))
    return found


def names_a_step(name: str) -> bool:
    """Return whether a framework calls a function of this name for each batch."""
    return _STEP.fullmatch(name.lstrip("_")) is not None


def runs_models(loop: Loop) -> bool:
    """Return whether a loop calls what runs a model by its name."""
    return any(map(names_a_model, _calls_in(loop)))


def names_a_model(name: str) -> bool:
    """Return whether a call of this name in the loop of a pipeline runs a model, or advances the scheduler."""
    plain = name.lstrip("_")
    return name == "self" or any(each.fullmatch(plain) for each in (_MODEL, _STEP, _RUN))


def names_a_sampler(name: str) -> bool:
    """Return whether a function of this name answers a request with many steps."""
    return _SAMPLER.fullmatch(name) is not None


def _running_a_model(loop: Loop) -> Loop | None:
    """Return a loop that runs a model, or passes a model to a function, which may run it; None for other loops."""
    calls = [each for each in walk(loop) if isinstance(each, ast.Call)]
    given = [each.id for call in calls for each in call.args if isinstance(each, ast.Name)]
    runs = any(map(names_a_model, _names_called(calls)))
    return loop if runs or any(_MODEL.fullmatch(name) is not None for name in given) else None


def _regions(
    body: list[ast.stmt], function: Function, counters: frozenset[str], loop: Loop | None
) -> Iterator[Region]:
    """Yield the regions of some statements; ``loop`` is the innermost one around that runs a model in each iteration."""
    for position, (before, node) in enumerate(zip([None, *body], body, strict=False), 1):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        around = _running_a_model(node) if isinstance(node, LOOPS) else loop
        if isinstance(node, LOOPS):
            yield from _of_loop(node, function)
            counters |= counters_of(node) if reads_batches(node) else frozenset()
        elif isinstance(node, ast.If):
            yield from _behind(node, before, body[position:], function, counters)
            yield from _of_errors(node, function)
            yield from map(_rare, () if names_a_step(function.name) else first_iteration(node, loop))
            yield from map(_of_a_script, outside_loops(node.body)) if _is_for_a_script(node.test) else ()
        elif isinstance(node, ast.Try):
            yield from map(_handling, filter(_handles_an_error, node.handlers))
        elif _sets_up(node):
            yield Region(When.ONCE, _lines(node), _calls_in(node))
        elif isinstance(node, ast.Assign) and function.owner is not None and (name := moved_by(node)):
            yield Region(When.ONCE, _lines(node), frozenset(), name)
        for inner in blocks_of(node):
            yield from _regions(inner, function, counters, around)


def _of_loop(loop: Loop, function: Function) -> Iterator[Region]:
    """Yield a loop, and its statements beside the loops over batches in it; nothing of a loop over the parts of a model."""
    calls, reads = with_held(_calls_in(loop), function.node), reads_batches(loop)
    trains = reads or not TRAINS.isdisjoint(calls)
    if not trains and reads_parts(loop):
        return
    yield Region(When.STEP if trains else When.UNKNOWN, _lines(loop), calls)
    if trains and not reads:
        yield from map(_in_few_steps, per_epoch(loop.body))


def _is_for_a_script(test: ast.expr) -> bool:
    """Return whether a test asks if the file runs as a script."""
    return (
        isinstance(test, ast.Compare) and path_of(test.left) == "__name__" and isinstance(test.ops[0], ast.Eq)
    )


def _of_a_script(node: ast.stmt) -> Region:
    """Return a statement outside loops at the end of a script, which runs once.

    The region names no callees, because a loop of another file may call the same functions per step.
    """
    return Region(When.ONCE, _lines(node), frozenset())


def _behind(
    node: ast.If, before: ast.stmt | None, after: Body, function: Function, counters: frozenset[str]
) -> Iterator[Region]:
    """Yield what a test lets run once or rarely."""
    answered = with_answers(node.test, function.node)
    if answered is not node.test:
        node = ast.If(answered, node.body, node.orelse)
    for once in once_behind(node, before, after, function):
        yield Region(When.ONCE, span(once), _calls_in(*once), is_of_self=_asks_self(node.test))
    yield from map(_rare, rarely_behind(node, after, counters))


def _rare(body: Body) -> Region:
    return Region(When.ONCE, span(body), _calls_in(*body))


def _sets_up(node: ast.stmt) -> bool:
    """Return whether a statement registers a part of a module, which a second one would replace, or loads a file of tensors."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call) and last_name(node.value.func) in _REGISTERS
    call = node.value if isinstance(node, (ast.Assign, ast.Return)) else None
    return isinstance(call, ast.Call) and path_of(call.func) == "torch.load"


def _of_errors(node: ast.If, function: Function) -> Iterator[Region]:
    return (_rare(each) for each in (node.body, node.orelse) if _reports_an_error(each, function))


def _reports_an_error(body: Body, function: Function) -> bool:
    """Return whether a branch ends with an exception, or only prepares a warning: a fallback that works on may run in each step."""
    last = body[-1] if body else None
    if isinstance(last, ast.Raise):
        return last.exc is not None and _ANSWERS.fullmatch(_called(last.exc)) is None
    call = last.value if isinstance(last, ast.Expr) else None
    if not isinstance(call, ast.Call) or _WARNS.fullmatch(path_of(call.func)) is None:
        return False
    set_here = {name for each in body for name in _stored_in(each)}
    is_plain = all(isinstance(each, (ast.Assign, ast.AnnAssign, ast.Expr)) for each in body)
    lines = span(body)
    return is_plain and not any(
        isinstance(each, ast.Name) and each.id in set_here and each.lineno not in lines
        for each in walk(function.node)
    )


def _called(raised: ast.expr) -> str:
    return last_name(raised.func if isinstance(raised, ast.Call) else raised)


def _stored_in(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement sets, and "self" for an attribute or an element."""
    for each in walk(statement):
        if isinstance(each, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(each.ctx, ast.Store):
            yield each.id if isinstance(each, ast.Name) else "self"


def _handles_an_error(handler: ast.ExceptHandler) -> bool:
    """Return whether what a handler is for is an error, and no way to ask, such as ``except StopIteration``."""
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return all(each is not None and last_name(each) in _ERRORS for each in types)


def _handling(handler: ast.ExceptHandler) -> Region:
    return Region(When.ONCE, span(handler.body), _calls_in(*handler.body))


def _in_few_steps(node: ast.stmt) -> Region:
    return Region(When.ONCE, _lines(node), _calls_in(node))


def _asks_self(test: ast.expr) -> bool:
    return any(isinstance(inner, ast.Name) and inner.id == "self" for inner in walk(test))


def span(body: Body) -> range:
    """Return the lines of several statements."""
    return range(body[0].lineno, (body[-1].end_lineno or 0) + 1)


def _lines(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _calls_in(*nodes: ast.AST) -> frozenset[str]:
    return _names_called(inner for node in nodes for inner in walk(node) if isinstance(inner, ast.Call))


def _names_called(calls: Iterable[ast.Call]) -> frozenset[str]:
    return frozenset(map(called_name, calls))

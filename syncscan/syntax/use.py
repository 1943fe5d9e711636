"""The use of a value: the part that the expression plays in its function, read from the syntax around the expression."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

from syncscan.syntax.context import SyntaxContext


class Role(IntEnum):
    """A part that a value plays; of several uses, the lowest role decides."""

    SIZE = 1  # a shape, a count, a bound of a slice or of `range`
    INDEX = 2
    TEST = 3
    ITERATED = 4
    ADDED = 5  # by `+=`
    APPENDED = 6
    LOGGED = 7
    RECORDED = 8  # in a dict, under a text, or in an attribute or a container that is named like a metric
    RETURNED = 9
    OTHER = 10


@dataclass(frozen=True, slots=True)
class Use:
    """A role, and the node in which the value plays the role: the test, the call, the statement or the dict."""

    role: Role
    node: ast.AST


_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_OF_OBJECTS_ALONE = (ast.Is, ast.IsNot, ast.In, ast.NotIn)
_OF_OBJECTS = frozenset({"items", "values", "parameters", "named_parameters", "buffers", "named_buffers"})
_SIZES = frozenset(
    [
        "zeros",
        "ones",
        "empty",
        "full",
        "arange",
        "range",
        "randn",
        "rand",
        "randint",
        "randperm",
        "eye",
        "linspace",
        "new_zeros",
        "new_ones",
        "new_empty",
        "new_full",
        "view",
        "reshape",
        "expand",
        "narrow",
        "repeat",
        "repeat_interleave",
        "split",
        "chunk",
        "tile",
        "unflatten",
        "pad",
        "one_hot",
        "bincount",
        "resize_",
        "islice",
        "ones_like",
    ]
)
_LOGS = frozenset(
    [
        "log",
        "info",
        "debug",
        "warning",
        "error",
        "print",
        "echo",
        "add_scalar",
        "add_scalars",
        "set_postfix",
        "set_description",
        "record",
        "write",
        "log_dict",
        "log_metric",
        "log_metrics",
        "write_scalar",
        "set_postfix_str",
        "track",
        "report",
        "format",
        "display",
        "logkv",
        "record_mean",
    ]
)
_LOG_PARTS = frozenset({"log", "track", "print", "write", "report", "record", "metric", "metrics"})
# Names of numbers that a program keeps to print, and decides nothing by.
_METRICS = re.compile(
    r"""(.*[._])?(loss(es)?|acc(uracy)?|accuracies|(grad_)?norms?|metrics?|stats?|logs?|means?|avg|averages?|scores?|errors?|lr|perplexity|ppl
    |infos?|history|records?|meters?|summary|summaries|rewards?)(_.*)?""",
    re.IGNORECASE | re.VERBOSE,
)
_APPENDS = frozenset({"append", "extend", "appendleft"})
_RECORDS = frozenset({"update", "setdefault"})
_CONVERTS = frozenset(
    [
        "int",
        "float",
        "round",
        "bool",
        "str",
        "abs",
        "min",
        "max",
        "sum",
        "sorted",
        "list",
        "tuple",
        "set",
        "array",
        "asarray",
        "cpu",
        "numpy",
        "tolist",
        "item",
        "detach",
        "squeeze",
        "ceil",
        "floor",
        "sqrt",
        "exp",
        "log1p",
        "astype",
    ]
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def use_of(node: ast.AST, around: SyntaxContext) -> Use:
    """Return the use of an expression; ``around`` holds at least the function of the expression.

    A value that a statement assigns to a name has the uses of the name in the rest of the function. A number that the function
    also works with is not just kept.
    """
    return min(uses_of(node, around), key=_weight, default=Use(Role.OTHER, node))


def uses_of(node: ast.AST, around: SyntaxContext) -> list[Use]:
    """Return all uses of an expression, and of the names that hold its value."""
    return [*_uses(node, around, 2)]


def _weight(use: Use) -> float:
    is_work = use.role is Role.OTHER and not _is_about_the_object(use.node)
    return Role.ADDED + 0.5 if is_work else use.role


def _uses(node: ast.AST, around: SyntaxContext, names: int) -> Iterator[Use]:
    """Yield the uses of an expression, and of the names that hold its value, to a depth of so many names."""
    inner, holder = node, around.parent(node)
    while holder is not None:
        use = _use_in(holder, inner)
        if use is not None:
            yield use
            return
        if isinstance(holder, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
            targets: Sequence[ast.expr] = (
                holder.targets if isinstance(holder, ast.Assign) else [holder.target]
            )
            yield from _uses_of_targets(targets, holder, around, names)
            return
        inner, holder = holder, around.parent(holder)
    yield Use(Role.OTHER, inner)


def _use_in(holder: ast.AST, inner: ast.AST) -> Use | None:
    """Return the use of a node in its parent; None where the parent hands the value on."""
    if isinstance(holder, ast.Call):
        return _use_in_call(holder, inner)
    if isinstance(holder, ast.Subscript):
        return Use(Role.INDEX, holder) if holder.slice is inner else None
    if _is_about_the_object(holder):
        return Use(Role.OTHER, holder)
    if isinstance(holder, (ast.If, ast.While, ast.Assert)):
        return Use(Role.TEST, holder)
    if isinstance(holder, ast.IfExp):
        return Use(Role.TEST, holder) if holder.test is inner else None
    if isinstance(holder, (ast.For, ast.AsyncFor, ast.comprehension)):
        is_test = isinstance(holder, ast.comprehension) and holder.iter is not inner
        return Use(Role.TEST if is_test else Role.ITERATED, holder)
    simple: dict[type[ast.AST], Role] = {
        ast.Slice: Role.SIZE,
        ast.Dict: Role.RECORDED,
        ast.Return: Role.RETURNED,
        ast.Yield: Role.RETURNED,
        ast.AugAssign: Role.ADDED,
    }
    role = next((role for kind, role in simple.items() if isinstance(holder, kind)), None)
    return Use(role, holder) if role is not None else None


def _is_about_the_object(node: ast.AST) -> bool:
    """Return whether a node tests no value: ``x is None``, ``x in values``."""
    return isinstance(node, ast.Compare) and any(isinstance(each, _OF_OBJECTS_ALONE) for each in node.ops)


def _use_in_call(call: ast.Call, inner: ast.AST) -> Use | None:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if inner is call.func or name in _CONVERTS:
        return None
    for names, role in (
        (_LOGS, Role.LOGGED),
        (_SIZES, Role.SIZE),
        (_APPENDS, Role.APPENDED),
        (_RECORDS, Role.RECORDED),
    ):
        if name in names:
            return Use(role, call)
    if name == "dict":
        return Use(Role.RECORDED, call)
    return Use(Role.OTHER if _LOG_PARTS.isdisjoint(name.split("_")) else Role.LOGGED, call)


def _uses_of_targets(
    targets: Sequence[ast.expr], statement: ast.AST, around: SyntaxContext, names: int
) -> Iterator[Use]:
    for target in targets:
        if isinstance(target, ast.Attribute):  # of another object, the program works with the number
            is_own = isinstance(target.value, ast.Name) and target.value.id == "self"
            is_record = is_own and _METRICS.fullmatch(target.attr)
            yield Use(Role.RECORDED if is_record else Role.OTHER, target)
        elif isinstance(target, ast.Subscript):
            yield Use(Role.RECORDED if _is_kept_under_a_text(target) else Role.OTHER, target)
        elif names and isinstance(target, ast.Name):
            for read in _reads_of(target.id, statement, around):
                yield from _uses(read, around, names - 1)


def _is_kept_under_a_text(target: ast.Subscript) -> bool:
    """Return whether an element is a record: that of a key that the source spells out, or of a container named like metrics."""
    is_text = isinstance(target.slice, ast.JoinedStr) or (
        isinstance(target.slice, ast.Constant) and isinstance(target.slice.value, str)
    )
    return is_text or _METRICS.fullmatch(ast.unparse(target.value)) is not None


def _reads_of(name: str, statement: ast.AST, around: SyntaxContext) -> Iterator[ast.Name]:
    """Yield the reads of a name behind a statement in its function, up to a statement that sets the name on every path.

    One that sets the name in a branch or a loop ends the reads in its block alone.
    """
    end = (getattr(statement, "end_lineno", 0), getattr(statement, "end_col_offset", 0))
    places = around.names_around(statement).places[name]
    found = sorted([each for each in places if _start(each) >= end], key=_start)
    hidden = end  # up to here, what is read was set since
    for number, each in enumerate(found):
        if _start(each) < hidden:
            continue
        if not isinstance(each.ctx, ast.Store):
            yield each
            continue
        setter = around.statement(each)
        if isinstance(around.parent(each), (ast.NamedExpr, ast.comprehension)):
            continue  # which may set the name on some paths, or another name
        before = setter.iter if isinstance(setter, (ast.For, ast.AsyncFor)) else setter
        yield from _read_until(_end(before), found[number + 1 :])
        if isinstance(setter, ast.AugAssign):
            yield each
        block = [setter] if before is not setter else _branch_of(setter, around)
        if block is None or _start(block[0]) <= _start(statement) < _end(block[-1]):
            return
        hidden = _end(block[-1])


def _read_until(end: tuple[int, int], found: Sequence[ast.Name]) -> Iterator[ast.Name]:
    """Yield what a statement reads before it sets the name, from the places behind the one that it sets."""
    for each in found:
        if _start(each) >= end:
            return
        if not isinstance(each.ctx, ast.Store):
            yield each


def _branch_of(statement: ast.AST, around: SyntaxContext) -> Sequence[ast.AST] | None:
    """Return the innermost block around a statement that may not run, such as a branch; None where there is none."""
    inner: ast.AST = statement
    for each in around.up(statement, itself=False):
        if not isinstance(each, (ast.With, ast.AsyncWith, ast.Module)):
            for block in (getattr(each, "body", None), getattr(each, "orelse", None)):
                if isinstance(block, list) and any(one is inner for one in block):
                    return block
        inner = each
    return None


def _start(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _end(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0)


def last_set(name: str, node: ast.AST, around: SyntaxContext) -> ast.expr | None:
    """Return the value that the function of a node last assigned to a name before the node, or None."""
    statement = around.statement(node)
    start = (getattr(statement, "lineno", 0), getattr(statement, "col_offset", 0))
    assigned = around.names_around(node).assigned[name]
    values = [each for each in assigned if (each.lineno, each.col_offset) < start]
    latest = max(values, key=lambda each: each.lineno, default=None)
    return latest.value if latest is not None else None


def is_parameter(name: str, node: ast.AST, around: SyntaxContext) -> bool:
    """Return whether a name is still the parameter of the function around a node, which nothing has set since."""
    function = next((each for each in around.up(node, itself=False) if isinstance(each, _FUNCTIONS)), None)
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) or last_set(name, node, around):
        return False
    arguments = function.args
    names = [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return name in names and name not in {"self", "cls"}


def set_in_loop(name: str, node: ast.AST, around: SyntaxContext) -> ast.expr | None:
    """Return the value that a statement of the innermost loop around a node last assigned to a name before the node; else None."""
    loop = next((each for each in around.up(node, itself=False) if isinstance(each, _LOOPS)), None)
    made = last_set(name, node, around)
    return made if made is not None and loop is not None and loop in around.up(made) else None


def has_own_value(name: str, node: ast.AST, around: SyntaxContext) -> bool:
    """Return whether each iteration of a loop sets a name to an object of its own, such as a value of a mapping."""
    for each in around.up(node):
        loops = (
            each.generators if hasattr(each, "generators") else [each] if isinstance(each, ast.For) else []
        )
        for loop in loops:
            if any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(loop.target)):
                return _yields_objects(loop.target, loop.iter)
        if isinstance(each, _FUNCTIONS):
            return False
    return False


def _yields_objects(target: ast.expr, iterable: ast.expr) -> bool:
    called = iterable.func if isinstance(iterable, ast.Call) else None
    if isinstance(called, ast.Attribute):
        return called.attr in _OF_OBJECTS
    return called is None and isinstance(target, ast.Tuple)


def loop_over(name: str, node: ast.AST, around: SyntaxContext) -> ast.expr | None:
    """Return the iterable of the innermost loop around a node that sets a name, without `enumerate` or `zip`; else None."""
    for each in around.up(node):
        loops = (
            each.generators if hasattr(each, "generators") else [each] if isinstance(each, ast.For) else []
        )
        for loop in loops:
            found = _iterable_of(name, loop.target, loop.iter)
            if found is not None:
                return found
        if isinstance(each, _FUNCTIONS):
            return None
    return None


def is_set_by_loop(name: str, node: ast.AST, around: SyntaxContext) -> bool:
    """Return whether a loop around a node in its function sets a name, the number of `enumerate` included."""
    for each in around.up(node):
        loops = (
            each.generators if hasattr(each, "generators") else [each] if isinstance(each, ast.For) else []
        )
        if any(
            isinstance(part, ast.Name) and part.id == name for loop in loops for part in ast.walk(loop.target)
        ):
            return True
        if isinstance(each, _FUNCTIONS):
            return False
    return False


def _iterable_of(name: str, target: ast.expr, iterable: ast.expr) -> ast.expr | None:
    if not any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(target)):
        return None
    targets = target.elts if isinstance(target, ast.Tuple) else []
    parts = _parts(iterable)
    if not parts or len(parts) != len(targets):
        return iterable
    pairs = zip(targets, parts, strict=True)
    found = (_iterable_of(name, one, other) for one, other in pairs if other is not None)
    return next((each for each in found if each is not None), None)


def _parts(iterable: ast.expr) -> list[ast.expr | None]:
    """Return what each target of a loop over `zip` or `enumerate` runs over; None for the number of `enumerate`."""
    if not isinstance(iterable, ast.Call) or not isinstance(iterable.func, ast.Name):
        return []
    if iterable.func.id == "enumerate":
        return [None, *iterable.args[:1]]
    return [*iterable.args] if iterable.func.id == "zip" else []

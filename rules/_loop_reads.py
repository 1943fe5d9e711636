"""The choice of a suggestion for a read in each iteration of a loop, of something that the loop does not compute."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from itertools import islice

from syncscan.model import Kind
from syncscan.ops import follows_default
from syncscan.rule import Facts
from syncscan.syntax.use import has_own_value, is_set_by_loop, last_set, loop_over, set_in_loop

from ._parts import STEPS, calls_in, is_path, kind_of_read, last_name, line_of, names_in, root_of
from ._shared import index_parts
from ._suggestions import suggest

_COUNTS = frozenset({"range", "enumerate", "len"})
_HOLDERS = frozenset({Kind.LIST, Kind.TUPLE, Kind.DICT, Kind.SET})
_TAKE_NUMBERS = frozenset(
    {"int", "float", "bool", "str", "print", "abs", "round", "range", "min", "max", "format"}
)


def of_a_loop(node: ast.AST, tensor: ast.AST | None, facts: Facts) -> str:
    """Return the suggestion for a read in each iteration of a tensor from before the loop."""
    around, root = facts.around(node), root_of(tensor)
    paths = [each for each in ast.walk(tensor) if is_path(each)] if tensor is not None else []
    if any(changes_in_place(each, node, facts, in_loop=True) for each in paths):
        return ""
    if not any(is_set_by_loop(name, node, around) for name in names_in(tensor)):
        text = (
            line_of(node, facts) if is_repeatable(node, facts) and not _may_change(paths, node, facts) else ""
        )
        return suggest("hoist", read=text) if text else ""
    elements = elements_behind(tensor, node, facts)
    if elements:
        return suggest("elements", tensor=elements)
    if not isinstance(root, ast.Name) or has_own_value(root.id, node, around):
        return ""
    return _of_an_iteration(root, node, tensor, facts)


def is_repeatable(read: ast.AST, facts: Facts) -> bool:
    """Return whether an expression gives the same each time if its names do: it calls tensors and torch alone, and nothing random."""
    return all(_computes_alone(call, facts) for call in calls_in(read))


def _computes_alone(call: ast.Call, facts: Facts) -> bool:
    name, last = facts.name_of(call.func), last_name(call.func)
    if isinstance(call.func, ast.Name) and not name.startswith("torch."):
        return last in _COMPUTE
    is_of_torch = follows_default(name if name.startswith("torch.") else f"torch.Tensor.{last}")
    return is_of_torch and not last.endswith("_") and _RANDOM.search(last) is None


def _may_change(paths: Sequence[ast.AST], node: ast.AST, facts: Facts) -> bool:
    """Return whether a loop around a read calls what may set an attribute that is read: a method of its object, or a function that gets it."""
    roots = {name for path in paths if isinstance(path, ast.Attribute) for name in names_in(path)}
    loops = [each for each in facts.around(node).up(node) if isinstance(each, (ast.For, ast.While))]
    own = {*ast.walk(node)}
    calls = [call for loop in loops for call in calls_in(loop) if call not in own]
    return any(not roots.isdisjoint(names_in(call)) and not _computes_alone(call, facts) for call in calls)


# Functions of Python that only compute.
_COMPUTE = frozenset({"int", "float", "bool", "str", "abs", "len", "min", "max", "sum", "round"})
_RANDOM = re.compile(
    r"rand|bernoulli|multinomial|normal(?!ize)|poisson|dropout|exponential|geometric|cauchy|uniform|gumbel"
)


def _of_an_iteration(root: ast.Name, node: ast.AST, tensor: ast.AST | None, facts: Facts) -> str:
    """Return the suggestion for a read of what a loop sets or numbers: an element or a row of its iteration."""
    iterable = loop_over(root.id, node, facts.around(node))
    if iterable is None:
        is_part = facts.of(root).kind is Kind.TENSOR and _is_indexed_by_loop(tensor, node, facts)
    else:
        stays = not calls_in(tensor) and _stays_tensor(root.id, node, facts)
        is_part = (
            facts.of(iterable).kind not in _HOLDERS and not stays
        )  # else the elements are tensors of their own
    return _of_elements(root.id, iterable, tensor, kind_of_read(node), facts) if is_part else ""


def _is_indexed_by_loop(tensor: ast.AST | None, node: ast.AST, facts: Facts) -> bool:
    """Return whether an expression holds an element or row that a loop numbers."""
    parts = [each.slice for each in ast.walk(tensor) if isinstance(each, ast.Subscript)] if tensor else []
    if any(facts.of(each).is_gpu for part in parts for each in ast.walk(part)):
        return False  # no list takes such an index
    return any(is_set_by_loop(name, node, facts.around(node)) for part in parts for name in names_in(part))


def _stays_tensor(name: str, node: ast.AST, facts: Facts) -> bool:
    """Return whether a loop uses its variable as a tensor: by a method, by a test of its class, or in a call that takes no number."""
    around = facts.around(node)
    loops = [each for each in around.up(node) if isinstance(each, (ast.For, ast.AsyncFor))]
    loop = next((each for each in loops if name in names_in(each.target)), None)
    inside = [each for statement in (loop.body if loop is not None else []) for each in ast.walk(statement)]
    uses = [each for each in inside if isinstance(each, ast.Name) and each.id == name]
    chains = [[*islice(around.up(use, itself=False), 2)] for use in uses]
    return any(_takes_tensor(name, use, outer, facts) for use, outer in chains)


def _takes_tensor(name: str, use: ast.AST, outer: ast.AST, facts: Facts) -> bool:
    """Return whether what uses a value, inside of something else, takes a tensor and no number; a read goes with the tensor."""
    if isinstance(use, ast.Call):
        name = facts.name_of(use.func) or last_name(use.func)  # the facts know the calls of one statement
        return name.removeprefix("builtins.") not in _TAKE_NUMBERS
    if isinstance(use, (ast.Subscript, ast.Assign)):  # an item of the value, or the value itself
        return isinstance(use.value, ast.Name) and use.value.id == name
    return isinstance(use, (ast.keyword, ast.Starred, ast.List, ast.Dict)) or (
        isinstance(use, ast.Attribute) and not kind_of_read(outer)
    )


def _of_elements(
    root: str, iterable: ast.expr | None, tensor: ast.AST | None, kind: str, facts: Facts
) -> str:
    """Return the suggestion for elements or rows that a loop reads; ``iterable`` holds them if the loop runs over them.

    ``kind`` is that of the read: one number may be that of a row of one element.
    """
    methods = [call.func.attr for call in calls_in(tensor) if isinstance(call.func, ast.Attribute)]
    name = line_of(iterable, facts) or root
    if tensor is not None and any(isinstance(each, ast.Slice) for each in ast.walk(tensor)):
        return ""  # a part of another length in each iteration
    if not name.replace(".", "").replace("_", "").isalnum():
        return ""
    if any(isinstance(call.func, ast.Name) for call in calls_in(tensor)):
        return ""  # a function, which may take no rows
    if methods:
        return suggest("iterate-rows", iterable=name, operation=methods[0])
    if iterable is None:
        return suggest("elements", tensor=name)
    is_row = isinstance(tensor, ast.Name) and facts.of(tensor).ndim != 0 and kind == "number"
    return suggest("iterate-flat" if is_row else "iterate", iterable=name)


def is_before_loop(part: ast.Subscript, node: ast.AST, facts: Facts) -> bool:
    """Return whether a loop over numbers takes its own part of something that the loop neither sets nor changes."""
    around, root = facts.around(node), root_of(part.value)
    names = [name for name in names_in(part.slice) if is_set_by_loop(name, node, around)]
    counts = [loop_over(name, node, around) for name in names]
    is_counted = all(  # the number of `enumerate` runs over nothing
        each is None or (isinstance(each, ast.Call) and last_name(each.func) in _COUNTS) for each in counts
    )
    is_read_there = any(
        facts.of(each).is_gpu for each in index_parts(part)
    )  # a list takes no index of the GPU
    if not names or not is_counted or is_read_there or not isinstance(root, (ast.Name, ast.Attribute)):
        return False
    is_set = isinstance(root, ast.Name) and (
        is_set_by_loop(root.id, node, around) or set_in_loop(root.id, node, around) is not None
    )
    return not is_set and not changes_in_place(part.value, node, facts)


def of_groups(mask: ast.AST | None, node: ast.AST, facts: Facts) -> str:
    """Return the suggestion for rows that a loop over values finds one value after the other; "" for other masks.

    The mask compares keys that the loop does not set with a number of the loop, or is a row of one-hot keys.
    """
    if isinstance(mask, ast.Subscript):
        return suggest("grouped") if _is_of_one_hot(mask, node, facts) else ""
    if not isinstance(mask, ast.Compare) or not isinstance(mask.ops[0], ast.Eq):
        return ""
    sides = [mask.left, mask.comparators[0]]
    values = [each for each in sides if isinstance(each, ast.Name) and _is_counted(each.id, node, facts)]
    keys = [root_of(each) for each in sides if each not in values]
    is_kept = all(isinstance(each, ast.Name) and not _is_set_around(each.id, node, facts) for each in keys)
    return suggest("grouped") if values and keys and is_kept else ""


def _is_of_one_hot(part: ast.Subscript, node: ast.AST, facts: Facts) -> bool:
    root = root_of(part.value)
    made = last_set(root.id, node, facts.around(node)) if isinstance(root, ast.Name) else None
    is_one_hot = any(last_name(each.func) == "one_hot" for each in calls_in(made))
    return is_one_hot and is_before_loop(part, node, facts)


def _is_set_around(name: str, node: ast.AST, facts: Facts) -> bool:
    """Return whether the innermost loop around a node sets a name."""
    around = facts.around(node)
    loop = next((each for each in around.up(node) if isinstance(each, (ast.For, ast.While))), None)
    lines = range(loop.lineno, (loop.end_lineno or 0) + 1) if loop is not None else range(0)
    places = around.names_around(node).places[name]
    return any(isinstance(each.ctx, ast.Store) and each.lineno in lines for each in places)


def _is_counted(name: str, node: ast.AST, facts: Facts) -> bool:
    """Return whether a loop over `range`, or `enumerate`, sets a name to a number."""
    around = facts.around(node)
    iterable = loop_over(name, node, around)
    is_range = isinstance(iterable, ast.Call) and last_name(iterable.func) == "range"
    return is_set_by_loop(name, node, around) and (iterable is None or is_range)


def elements_behind(made: ast.AST | None, node: ast.AST, facts: Facts) -> str:
    """Return the tensor from before a loop of whose element of this iteration a value was made; "" if there is none."""
    around = facts.around(node)
    for _ in range(STEPS):
        if isinstance(made, ast.Subscript) and is_before_loop(made, node, facts):
            whole = line_of(made.value, facts)
            return f"{whole}.transpose(0, 1)" if whole and _is_column(made) else whole
        root = root_of(made)
        made = set_in_loop(root.id, node, around) if isinstance(root, ast.Name) else None
    return ""


def _is_column(part: ast.Subscript) -> bool:
    """Return whether a part is a column, ``x[:, i]``."""
    parts = index_parts(part)
    return len(parts) == 2 and ast.unparse(parts[0]) == ":" and not isinstance(parts[1], ast.Slice)


def changes_in_place(root: ast.AST | None, node: ast.AST, facts: Facts, *, in_loop: bool = False) -> bool:
    """Return whether the function of a node, or a loop around the node, calls a method such as `add_` of a name or attribute."""
    around, text = facts.around(node), line_of(root, facts)
    loops = {each for each in around.up(node) if isinstance(each, (ast.For, ast.While))}
    changed = [each for each in around.names_around(node).changed if line_of(each, facts) == text]
    return any(not in_loop or not loops.isdisjoint(around.up(each)) for each in changed)

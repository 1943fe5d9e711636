"""The parts of modules in the source of functions: the parameters that an initialiser keeps, and moves in place."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from syncscan.check.infer.source.conventions import dtype_class
from syncscan.check.infer.source.index import Class, Function
from syncscan.check.infer.source.syntax import inside, own_nodes, walk
from syncscan.syntax.names import dotted_name

_IN_PLACE = frozenset({"to", "cuda", "to_empty", "_apply"})


class KeptParameters(NamedTuple):
    """The parameters of an initialiser that it neither binds anew nor passes to any other call, by what becomes of them.

    ``held``: with the attributes that hold them. ``handed``: to the next initialiser, each behind its position or keyword there. ``shown`` has
    what other calls are given.
    """

    held: frozenset[tuple[str, str]]
    handed: frozenset[tuple[int | str, str]]
    shown: frozenset[str]


_KEEPS_NONE: Final = KeptParameters(frozenset(), frozenset(), frozenset())
_LOOK = frozenset(
    {"callable", "getattr", "hasattr", "id", "isinstance", "len", "print", "repr", "str", "super", "type"}
)


def kept_parameters(initialiser: Function) -> KeptParameters:
    """Return the parameters that an initialiser keeps: ``self.inner = inner``, or ``super().__init__(inner)``.

    An initialiser that moves modules keeps none of them where they were.
    """
    if moves_in_place(initialiser):
        return _KEEPS_NONE
    nodes = [*own_nodes(inside(initialiser.node))]
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    onward = [call for call in calls if _is_next_initialiser(call.func, initialiser.owner)]
    shown = frozenset(_shown(call for call in calls if call not in onward))
    changed = shown.union(_bound(nodes))
    handed = [each for call in onward for each in _placed(call)]
    return KeptParameters(
        frozenset(pair for pair in _stored(nodes) if changed.isdisjoint(pair)),
        frozenset((place, name) for place, each in handed if (name := dotted_name(each)) not in changed),
        shown,
    )


def _shown(calls: Iterable[ast.Call]) -> Iterator[str]:
    """Yield the names and attributes that some calls are given, of those that do more than to look at them."""
    for call in calls:
        if dotted_name(call.func) not in _LOOK:
            yield from filter(None, [dotted_name(each) for _, each in _given(call)])


def _bound(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the names that are bound anew."""
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _stored(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    """Yield the names that become attributes, with these."""
    for node in nodes:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
            yield from (
                (node.value.id, dotted_name(each)) for each in node.targets if isinstance(each, ast.Attribute)
            )


def _given(call: ast.Call) -> Iterator[tuple[int | str | None, ast.expr]]:
    """Yield the arguments of a call with their positions or keywords."""
    yield from enumerate(each.value if isinstance(each, ast.Starred) else each for each in call.args)
    yield from ((each.arg, each.value) for each in call.keywords)


def _placed(call: ast.Call) -> Iterator[tuple[int | str, ast.expr]]:
    """Yield the arguments of a call whose positions or keywords are known."""
    starred = next((at for at, each in enumerate(call.args) if isinstance(each, ast.Starred)), len(call.args))
    for place, each in _given(call):
        if isinstance(place, str) or (place is not None and place < starred):
            yield place, each


def _is_next_initialiser(called: ast.expr, owner: Class | None) -> bool:
    """Return whether a call runs the initialiser of the next class: ``super().__init__``."""
    if (
        not isinstance(called, ast.Attribute)
        or called.attr != "__init__"
        or not isinstance(called.value, ast.Call)
    ):
        return False
    after = called.value.args[:1]
    is_own = not after or (owner is not None and dotted_name(after[0]) == owner.name)
    return dotted_name(called.value.func) == "super" and is_own


def moves_in_place(function: Function) -> bool:
    """Return whether a function may move a module that has a name: ``self.inner.to(device)``."""
    nodes = walk(function.node)
    attributes = (node for node in nodes if isinstance(node, ast.Attribute))
    sets_device = any(each.attr == "device" and isinstance(each.ctx, ast.Store) for each in attributes)
    return any(_moves(node, sets_device=sets_device) for node in nodes if isinstance(node, ast.Call))


def _moves(call: ast.Call, *, sets_device: bool) -> bool:
    """Return whether a call may move a module with a name. A cast moves none, nor does ``x.to(x.device)``."""
    called = call.func
    if not isinstance(called, ast.Attribute) or called.attr not in _IN_PLACE:
        return False
    given = [each for keyword, each in _given(call) if keyword not in _NO_PLACES]
    own = f"{called.value.id}.device" if isinstance(called.value, ast.Name) and not sets_device else ""
    names = map(dotted_name, given)
    stays = called.attr == "to" and all(_names_dtype(name) or (own and name == own) for name in names)
    return dotted_name(called.value) != "" and not stays


_NO_PLACES = frozenset({"copy", "dtype", "memory_format", "non_blocking"})
_OTHER_DTYPES = ("complex", "float8_")  # the analysis has no class for these


def _names_dtype(name: str) -> bool:
    """Return whether a name is one of a dtype: ``torch.float32``, ``x.dtype``."""
    last = name.rpartition(".")[2]
    return dtype_class(last) is not None or last.endswith("dtype") or last.startswith(_OTHER_DTYPES)

"""The arguments that Python's own functions, and the methods of its containers and texts, leave unread.

A function that is not named here reads every argument, and the items of a container among them: as a number, a truth value or
an operand of a comparison.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from syncscan.check.prove.frame import Arguments, WalkFrame
from syncscan.check.prove.values import TOP, AbstractValue, may_be_gpu, options_of
from syncscan.model import Kind

_NOTHING = frozenset[int | str]()
# By function: the arguments that it reads, by position and name. `python` and `comparisons` handle the items that they walk.
_READ: dict[str, frozenset[int | str]] = {
    **{
        f"builtins.{name}": _NOTHING
        for name in (
            "__build_class__", "abs", "all", "any", "ascii", "bool", "callable", "classmethod", "delattr", "dict",
            "dict.fromkeys", "dir", "divmod", "float", "format", "frozenset", "getattr", "globals", "hasattr", "hash", "id",
            "isinstance", "issubclass", "len", "list", "locals", "max", "memoryview", "min", "next", "object", "pow", "print", "property",
            "range", "repr", "reversed", "set", "setattr", "slice", "staticmethod", "str", "str.join", "sum", "super", "tuple",
            "type", "vars",
        )
    },
    **{
        f"builtins.{owner}.{name}": _NOTHING
        for owner in ("dict", "str", "list", "object", "int", "float", "bytes")
        for name in ("__init__", "__new__", "__setattr__", "__getattribute__")
    },
    "builtins.complex": frozenset({1, "real", "imag"}),
    "builtins.enumerate": frozenset({1, "start"}),
    "builtins.filter": _NOTHING,
    "builtins.int": frozenset({1, "base"}),
    "builtins.iter": frozenset({1}),
    "builtins.map": frozenset({"strict"}),
    "builtins.round": frozenset({1, "ndigits"}),
    "builtins.sorted": frozenset({"reverse"}),
    "builtins.zip": frozenset({"strict"}),
    "collections.deque": frozenset({1, "maxlen"}),
    "itertools.islice": frozenset({1, 2, 3}),
    "itertools.product": frozenset({"repeat"}),
    "itertools.repeat": frozenset({1, "times"}),
    **{f"list.{name}": _NOTHING for name in ("append", "appendleft", "count", "extend", "remove")},
    "list.index": frozenset({1, 2}),
    "list.insert": frozenset({0}),
    "list.sort": frozenset({"reverse"}),
    **{f"dict.{name}": _NOTHING for name in ("get", "pop", "setdefault", "update")},  # which hash their keys
    **{
        f"set.{name}": _NOTHING
        for name in ("add", "difference", "discard", "intersection", "remove", "union", "update")
    },
    **{f"str.{name}": _NOTHING for name in ("join", "format", "format_map")},
}  # fmt: skip
_OWNERS = {
    Kind.LIST: "list", Kind.TUPLE: "list", Kind.DICT: "dict", Kind.SET: "set", Kind.STRING: "str", Kind.SLICE: "slice",
}  # fmt: skip
_HOLDING = frozenset({Kind.LIST, Kind.TUPLE, Kind.SET, Kind.DICT, Kind.SLICE})
_FACT = "annotate the arguments with types that are no tensors"


def reads(frame: WalkFrame, node: ast.AST, name: str, args: Arguments) -> None:
    """Note that a function of Python itself, of a full name, may read a tensor on the GPU among its arguments."""
    if any(map(may_be_read, _read_among(args, _READ.get(name)))):
        short = name.removeprefix("builtins.")
        frame.may(node, None, f"`{short}` may be given a tensor on the GPU, and read it", _FACT)


def keeps(frame: WalkFrame, node: ast.AST, name: str, args: Arguments) -> None:
    """Note the arguments that a function reads which else keeps what it is given."""
    if name in _READ:
        reads(frame, node, name, args)


def method_reads(frame: WalkFrame, node: ast.AST, base: AbstractValue, name: str, args: Arguments) -> None:
    """Note that a method of a container, a text or a slice may read a tensor on the GPU."""
    given = args.on(base) if base.kind is Kind.SLICE else args  # which holds its arguments
    reads(frame, node, f"{_OWNERS.get(base.kind, '')}.{name}", given)


def _read_among(args: Arguments, read: frozenset[int | str] | None) -> Iterator[AbstractValue]:
    """Yield the arguments that are read."""
    if read is None:
        yield from args.values
    else:
        known = len(args.args) if args.certain is None else args.certain
        yield from (
            value for place, value in enumerate(args.args) if place in read or (read and place >= known)
        )
        yield from (value for name, value in args.kwargs.items() if name in read)
    if args.spreads and read != _NOTHING:
        yield args.rest


def may_be_read(value: AbstractValue) -> bool:
    """Return whether a value, or an item of a container or a slice, may be a tensor on the GPU."""
    if value.kind is Kind.UNION:
        return any(map(may_be_read, options_of(value)))
    if value.kind in _HOLDING:
        inside = value.items if value.items is not None else (value.element or TOP,)
        return any(map(may_be_read, inside))
    return may_be_gpu(value)

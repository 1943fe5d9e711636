"""Calls of Python's own functions that read a number, a truth value or a text, or iterate."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection

from syncscan.check.infer.source.index import Class
from syncscan.check.infer.source.syntax import last_name
from syncscan.check.prove.comparisons import may_read
from syncscan.check.prove.containers import iterates
from syncscan.check.prove.frame import Arguments, WalkFrame
from syncscan.check.prove.outline import ANY_NAME
from syncscan.check.prove.packages import is_exception
from syncscan.check.prove.setters import deletes_attribute, sets_attribute
from syncscan.check.prove.special import (
    MAPPING,
    ORDERING,
    asks_classes,
    compares,
    hashes,
    may_hold_items,
    runs,
    runs_any,
)
from syncscan.check.prove.truths import asks_truth
from syncscan.check.prove.unread import reads
from syncscan.check.prove.values import (
    A_CLASS,
    BOOL,
    INT,
    NO_TENSOR,
    NONE,
    NUMBER,
    PROPERTY,
    STRING,
    TOP,
    AbstractValue,
    join,
    join_all,
    lazily,
    list_of,
    may_be_gpu,
    may_hold_gpu,
)
from syncscan.model import Kind

_OF_NUMBERS = {"int": INT, "float": NUMBER, "complex": NUMBER, "bool": BOOL, "round": NUMBER}
_TEXTS = frozenset({"str", "repr", "print", "format", "ascii"})
_SIZED = frozenset({Kind.LIST, Kind.TUPLE, Kind.SET, Kind.DICT})  # whose truth is that of their length
_COMPARING = frozenset({"min", "max", "sorted", "sum", "any", "all"})
_MAKING = {"list": Kind.LIST, "tuple": Kind.TUPLE, "set": Kind.SET, "frozenset": Kind.SET}
_LAZY = frozenset({"zip", "enumerate", "reversed", "map", "filter", "iter"})
_QUIET = {
    "len": INT, "isinstance": BOOL, "issubclass": BOOL, "id": INT, "hash": INT, "callable": BOOL, "hasattr": BOOL, "type": A_CLASS,
    "object": NO_TENSOR, "property": PROPERTY, "staticmethod": TOP, "classmethod": TOP, "open": AbstractValue(Kind.INSTANCE, payload="builtins.open"),
    "ord": INT, "chr": STRING, "bin": STRING, "hex": STRING, "oct": STRING, "bytes": STRING, "bytearray": STRING, "vars": NO_TENSOR,
    "__build_class__": TOP, "__import__": TOP, "dir": NO_TENSOR, "globals": NO_TENSOR, "locals": NO_TENSOR, "input": STRING, "memoryview": NO_TENSOR, "super": NO_TENSOR,
}  # fmt: skip
_INDEX = ("__index__",)
_SPECIAL: dict[str, tuple[str, ...]] = {
    "len": ("__len__",),
    "abs": ("__abs__",),
    "iter": ("__iter__",),
    "reversed": ("__reversed__", "__len__", "__getitem__"),
    "divmod": ("__divmod__", "__rdivmod__"),
    "pow": ("__pow__", "__rpow__"),
    "bytes": ("__bytes__", "__iter__", *_INDEX),
    "bytearray": ("__iter__", *_INDEX),
    "memoryview": ("__buffer__",),
    "complex": ("__complex__", "__float__", *_INDEX),
    "dir": ("__dir__",),
    "open": ("__fspath__",),
    "dict": (*MAPPING, "__next__"),
    "enumerate": _INDEX,
    "int": ("__int__", "__trunc__", *_INDEX),
    "float": ("__float__", *_INDEX),
    "round": ("__round__", "__float__", *_INDEX),
    **dict.fromkeys(("hex", "bin", "oct", "chr", "range", "slice"), _INDEX),
}


def call_builtin(frame: WalkFrame, node: ast.AST, name: str, args: Arguments) -> AbstractValue:
    """Walk a call of a function of Python itself."""
    _runs_special(frame, node, name, args)
    reads(frame, node, f"builtins.{name}", args)
    if name == "type" and len(args.args) == 1 and not args.spreads:
        return _class_of(args.args[0])
    for names, handler in _HANDLERS:
        if name in names:
            return handler(frame, node, name, args)
    if name in _QUIET:
        return _QUIET[name]
    if is_exception(name):
        return NO_TENSOR
    owner, _, method = name.rpartition(".")
    if owner in _TYPES and method in _OF_TYPES:
        if method == "__new__":
            call_builtin(frame, node, owner, args.behind_first())
        return TOP
    return frame.unknown(node, f"`{name}` may run anything")


def _runs_special(frame: WalkFrame, node: ast.AST, name: str, args: Arguments) -> None:
    """Note the special methods that a function of Python itself runs on its arguments."""
    for value in args.args if name in _SPECIAL else ():
        runs(frame, node, value, *_SPECIAL[name])
    if name in {"hash", "dict", "dict.fromkeys"}:
        hashes(frame, node, *args.args[:1])
    if name in {"isinstance", "issubclass"}:
        asks_classes(frame, node, args.args[1:])
    if name == "type" and len(args.args) > 1:  # which makes a class
        runs_any(frame, node, "__init_subclass__", "__set_name__")
    if "file" in args.kwargs:
        runs(frame, node, args.kwargs["file"], "write", "flush")
    if name == "hasattr":
        _dynamic(frame, node, name, Arguments(args.args[:2], args.kwargs, args.spreads, args.rest))


def _class_of(value: AbstractValue) -> AbstractValue:
    """Return the class of an object."""
    options = value.options or (value,)
    if any(each.kind is not Kind.INSTANCE or not isinstance(each.payload, Class) for each in options):
        return A_CLASS
    return join_all([AbstractValue(Kind.CLASS, payload=each.payload) for each in options])


def _text(frame: WalkFrame, node: ast.AST, name: str, args: Arguments) -> AbstractValue:
    for value in args.values:
        formats(frame, node, value)
    return NONE if name == "print" else STRING


def _range(frame: WalkFrame, node: ast.AST, _: str, args: Arguments) -> AbstractValue:
    for value in args.args:
        _reads_number(frame, node, value)
    return list_of(INT)


def _container(frame: WalkFrame, node: ast.AST, name: str, args: Arguments) -> AbstractValue:
    item = iterates(frame, node, args.args[0]) if args.args else TOP
    if _MAKING[name] is Kind.SET and args.args:
        hashes(frame, node, item)
    return AbstractValue(_MAKING[name], element=item)


def _next(frame: WalkFrame, node: ast.AST, _: str, args: Arguments) -> AbstractValue:
    return join_all([iterates(frame, node, args.args[0] if args.args else TOP), *args.args[1:]])


def _arithmetic(_: WalkFrame, __: ast.AST, ___: str, args: Arguments) -> AbstractValue:
    return TOP if any(map(may_be_gpu, args.values)) else NUMBER


def _slice(_: WalkFrame, __: ast.AST, ___: str, args: Arguments) -> AbstractValue:
    return AbstractValue(Kind.SLICE, items=None if args.spreads else tuple(args.args))


def _table(*_: object) -> AbstractValue:
    return AbstractValue(Kind.DICT, element=TOP)


def _number(frame: WalkFrame, node: ast.AST, name: str, args: Arguments) -> AbstractValue:
    for value in args.args[:1]:
        if name == "bool":
            asks_truth(frame, node, value)
        else:
            _reads_number(frame, node, value)
        if _is_doubted(frame, node, name, value):
            reason = f"it converts what the annotation says is of type `{name}` already, so it may be a tensor on the GPU"
            frame.may(node, None, reason, "take the conversion out")
    return _OF_NUMBERS[name]


def _is_doubted(frame: WalkFrame, node: ast.AST, name: str, value: AbstractValue) -> bool:
    """Return whether the code converts a parameter to its annotated type, and so does not trust the annotation."""
    if not isinstance(node, ast.Call) or last_name(node.func) != name:  # a class that extends the type
        return False
    argument = node.args[0] if node.args else None
    if not isinstance(argument, ast.Name) or value.kind is not Kind.NUMBER or value.dtype != name:
        return False
    parameter = frame.function.by_name.get(argument.id)
    if parameter is None or parameter.annotation is None:
        return False
    if frame.source.promised(parameter.annotation, frame.module, frame.function).kind is not Kind.NUMBER:
        return False
    seen = frame.prover.recorded.seen(frame.function, argument.id)
    return seen is None or may_hold_gpu(seen)


def _reads_number(frame: WalkFrame, node: ast.AST, value: AbstractValue) -> None:
    if may_be_gpu(value):
        frame.may(node, None, "it reads a number that may be a tensor on the GPU", _NUMBER)


_NUMBER = "annotate its argument as a number, or `assert x.is_cpu`"


def formats(frame: WalkFrame, node: ast.AST, value: AbstractValue) -> None:
    """Walk the making of a text of a value."""
    for option in value.options or (value,):
        cls = option.payload if option.kind is Kind.INSTANCE else None
        if isinstance(cls, Class):
            runs(frame, node, option, *_TEXT)
            methods = [method for name in _TEXT for method in frame.source.overrides(cls, name)]
            if not methods and (cls.is_record or cls.is_module or may_hold_items(frame, cls)):
                held = "items" if may_hold_items(frame, cls) else "fields"
                reason = f"the text of a `{cls.name}` shows its {held}, and one of them may be on the GPU"
                frame.may(node, None, reason, _ON_TEXT)
        elif option.kind is Kind.CLASS:
            runs(frame, node, option, *_TEXT)
        elif may_hold_gpu(option):
            frame.may(node, None, "the text is of what may be a tensor on the GPU", _ON_TEXT)


_TEXT = ("__str__", "__repr__", "__format__", "__int__", "__float__", *_INDEX)
_ON_TEXT = "leave the value out of the text, or annotate it with a type that is no tensor"


def _compares(frame: WalkFrame, node: ast.AST, name: str, args: Arguments) -> AbstractValue:
    """Walk a function that compares or adds up the items of its arguments."""
    several = len(args.args) > 1 and name in {"min", "max"}
    items = list(args.args) if several else [iterates(frame, node, value) for value in args.args[:1]]
    whole = join_all(items) if items else TOP
    if name == "sum":
        added = join_all([whole, *args.args[1:], *args.kwargs.values()])
        runs(frame, node, added, "__add__", "__radd__", "__iadd__")
        return TOP if may_be_gpu(added) else added
    key = args.kwargs.get("key", NONE)
    compared = whole if key is NONE else frame.call(node, key, Arguments((whole,)))
    if name in {"min", "max", "sorted"}:
        compares(frame, node, [compared], *ORDERING)
    if name in {"any", "all"}:
        return _asks_truth_of_items(frame, node, name, compared, args)
    if args.spreads or may_hold_gpu(compared):
        frame.may(node, None, f"`{name}` compares what may be tensors on the GPU", _NUMBER)
    if name == "sorted":
        return AbstractValue(Kind.LIST, element=whole)
    return join(whole, args.kwargs["default"]) if "default" in args.kwargs else whole


def _asks_truth_of_items(
    frame: WalkFrame, node: ast.AST, name: str, item: AbstractValue, args: Arguments
) -> AbstractValue:
    """Walk `any` or `all`; the truth of a list among the items is that of the length."""
    asked = [each for each in item.options if each.kind not in _SIZED]
    if args.spreads or any(map(may_hold_gpu, asked)):
        frame.may(node, None, f"`{name}` asks for the truth of what may be tensors on the GPU", _NUMBER)
    runs(frame, node, item, "__bool__", "__len__")
    return BOOL


def _lazy(frame: WalkFrame, node: ast.AST, name: str, args: Arguments) -> AbstractValue:
    """Walk a function that returns items of its argument on demand."""
    return lazily(_items_on_demand(frame, node, name, args))


def _items_on_demand(frame: WalkFrame, node: ast.AST, name: str, args: Arguments) -> AbstractValue:
    """Return the items that a function gives on demand, as a list."""
    start = 1 if name in {"map", "filter"} else 0
    items = [iterates(frame, node, value) for value in args.args[start:]]
    first = items[0] if items else TOP
    if name == "zip":
        row = list_of(join_all(items), Kind.TUPLE) if args.spreads and items else _row(items)
        return AbstractValue(Kind.LIST, element=row)
    if name == "enumerate":
        return AbstractValue(Kind.LIST, element=AbstractValue(Kind.TUPLE, items=(INT, first)))
    if name == "map":
        function = args.args[0] if args.args else TOP
        given = Arguments(tuple(items), spreads=not items)
        return AbstractValue(Kind.LIST, element=frame.call(node, function, given))
    if name == "iter" and len(args.args) > 1:  # with a function that gives the items
        return AbstractValue(Kind.LIST, element=_until(frame, node, *args.args[:2]))
    if name == "filter":
        asks_truth(frame, node, first)
        if args.args and args.args[0] is not NONE:
            asks_truth(frame, node, frame.call(node, args.args[0], Arguments((first,))))
    return AbstractValue(Kind.LIST, element=first)


def _until(
    frame: WalkFrame, node: ast.AST, function: AbstractValue, sentinel: AbstractValue
) -> AbstractValue:
    """Return the results of a function that ``iter`` calls until one equals the sentinel."""
    given = frame.call(node, function, Arguments())
    compares(frame, node, (given, sentinel), "__eq__")
    if may_read(frame, "Eq", given, sentinel):
        frame.may(node, None, "`iter` compares what may be a tensor on the GPU", _NUMBER)
    return given


def _row(items: list[AbstractValue]) -> AbstractValue:
    """Return one of the tuples that ``zip`` yields."""
    return AbstractValue(Kind.TUPLE, items=tuple(items)) if items else list_of(TOP, Kind.TUPLE)


def _dynamic(frame: WalkFrame, node: ast.AST, name: str, args: Arguments) -> AbstractValue:
    """Walk ``getattr`` and its like: any property, or setter, of the name may run."""
    given = args.given(1, "name")
    text = given.payload if given is not None and given.kind is Kind.STRING else None
    owner = args.args[0] if args.args else TOP
    if name in {"setattr", "delattr"}:
        value = args.given(2, "value") or TOP
        _changes(frame, node, name, owner, text if isinstance(text, str) else None, value)
        if isinstance(text, str):
            return NONE
    if not isinstance(text, str) and frame.prover.ran.knows_calls:
        return TOP  # the run names the property that ran
    if not isinstance(text, str):
        return frame.unknown(node, f"`{name}` of a name that is not known may run any property")
    default = args.args[2:3]
    found = frame.attribute(node, owner, text)
    return join(found, default[0]) if default else found


def _changes(
    frame: WalkFrame,
    node: ast.AST,
    function: str,
    owner: AbstractValue,
    name: str | None,
    value: AbstractValue,
) -> None:
    """Walk ``setattr`` and ``delattr``."""
    if name is None:
        runs(frame, node, owner, f"__{function}__")
    if function == "delattr" and name is not None:
        deletes_attribute(frame, node, owner, name)
    elif function == "setattr" and name is not None:
        sets_attribute(frame, node, owner, name, value)
    elif function == "setattr":
        sets_by_name(frame, owner, None, value)


def sets_by_name(
    frame: WalkFrame, owner: AbstractValue, name: AbstractValue | None, value: AbstractValue
) -> None:
    """Note the attribute that a call sets by its name."""
    known = name.payload if name is not None and name.kind is Kind.STRING else None
    frame.walk.stored.setdefault(known if isinstance(known, str) else ANY_NAME, []).append((owner, value))


_TYPES = frozenset({"dict", "str", "list", "object", "int", "float", "bytes"})
_OF_TYPES = frozenset(
    {
        "fromkeys",
        "join",
        "maketrans",
        "__init__",
        "__new__",
        "__setattr__",
        "__getattribute__",
        "from_bytes",
        "fromhex",
    }
)
_HANDLERS: tuple[
    tuple[Collection[str], Callable[[WalkFrame, ast.AST, str, Arguments], AbstractValue]], ...
] = (
    (_OF_NUMBERS, _number),
    (_TEXTS, _text),
    ({"range"}, _range),
    (_COMPARING, _compares),
    (_MAKING, _container),
    ({"next"}, _next),
    ({"dict"}, _table),
    ({"slice"}, _slice),
    (_LAZY, _lazy),
    ({"abs", "pow", "divmod"}, _arithmetic),
    ({"getattr", "setattr", "delattr"}, _dynamic),
)

"""The walk of a call in the source: its arguments, and the value before the parentheses."""

from __future__ import annotations

import ast

from syncscan.check.infer.domain.callables import BoundMethod
from syncscan.check.infer.source.index import Class, Function, Module
from syncscan.check.infer.transfer.conditions import Bound
from syncscan.check.prove.attributes import of_instance
from syncscan.check.prove.bodies import related_to
from syncscan.check.prove.callbacks import receives
from syncscan.check.prove.comparisons import may_read
from syncscan.check.prove.conditions import possible_case
from syncscan.check.prove.containers import iterates, spreads_mapping
from syncscan.check.prove.format_fields import formats_fields
from syncscan.check.prove.frame import TRANSFERS, Arguments, WalkFrame, handles
from syncscan.check.prove.functions import (
    call_class_method,
    call_functions,
    call_super,
    call_value,
    unresolved,
)
from syncscan.check.prove.identity import stores_of
from syncscan.check.prove.lacking import having
from syncscan.check.prove.lists import fills, widens
from syncscan.check.prove.names import module_value, name_value
from syncscan.check.prove.outline import REGISTERING, set_by
from syncscan.check.prove.outside import blocks, call_outside
from syncscan.check.prove.packages import is_harmless_base, is_logging, is_of_logger, only_looks
from syncscan.check.prove.python import sets_by_name
from syncscan.check.prove.setters import runs_property_setters
from syncscan.check.prove.special import asks_classes, compares, hashes, runs
from syncscan.check.prove.unread import method_reads
from syncscan.check.prove.values import (
    BOOL,
    BOTTOM,
    HOST,
    INT,
    NO_TENSOR,
    NONE,
    STRING,
    TOP,
    AbstractValue,
    elements,
    host_arrays,
    join,
    join_all,
    keys_of,
    list_of,
    may_be_gpu,
    may_hold_gpu,
    tensors_of,
    under_key,
)
from syncscan.model import Kind

_OF_PROJECT = (Class, Function, Module, BoundMethod)
_CLASSES_LAST = frozenset({"isinstance", "issubclass"})
_PUT = frozenset(
    {"append", "extend", "insert", "add", "update", "clear", "discard", "reverse", "setdefault", "appendleft"}
)
_DROP = frozenset({"clear", "discard", "reverse"})
_COMPARE = frozenset({"index", "count", "remove", "sort"})
# Methods of Python's own base classes that only store and return items.
_OF_PYTHON = frozenset(
    {"_replace", "_asdict", "keys", "values", "items", "get", "append", "add", "update", "pop", "clear"}
)
_GIVE = frozenset({"pop", "get", "popitem", "popleft"})
_ALL_OF = frozenset({"items", "keys", "values", "copy", "union", "intersection", "difference"})
_OF_TEXT = {"split": list_of(STRING), "splitlines": list_of(STRING), "rsplit": list_of(STRING), "encode": STRING,
            "partition": list_of(STRING, Kind.TUPLE), "rpartition": list_of(STRING, Kind.TUPLE), "find": INT, "count": INT,
            "rfind": INT, "index": INT}  # fmt: skip


def call(frame: WalkFrame, node: ast.Call) -> AbstractValue:
    """Walk a call; return the result."""
    function = node.func
    if isinstance(function, ast.Attribute):
        if function.attr == "__setattr__" and not _passes_on(frame, node):
            _sets(frame, node)
        if _is_super(frame, function.value):
            args = arguments_of(frame, node, name=f"builtins.object.{function.attr}")
            return call_super(frame, node, function.attr, args)
        base = base_value(frame, function.value)
        args = arguments_of(frame, node, base, f"{base.payload}.{function.attr}")
        return call_method(frame, node, base, function.attr, args)
    name = function.id if isinstance(function, ast.Name) else ""
    callee = name_value(frame, name) if name else base_value(frame, function)
    if callee.payload == "builtins.super":
        return NO_TENSOR
    if name in _CLASSES_LAST and callee.payload == f"builtins.{name}":
        frame.evaluate(node.args[0])
        second = node.args[1] if len(node.args) > 1 else node
        classes = second.elts if isinstance(second, ast.Tuple) else node.args[1:]
        asks_classes(frame, node, [base_value(frame, each) for each in classes])
        return BOOL
    return call_value(frame, node, callee, arguments_of(frame, node, callee, str(callee.payload)), name)


def _passes_on(frame: WalkFrame, node: ast.Call) -> bool:
    """Return whether a ``__setattr__`` gives the name and the value that it was given to the next one."""
    parameters = [each.name for each in frame.function.parameters[1:3]]
    given = [each.id for each in node.args[-2:] if isinstance(each, ast.Name)]
    is_one = frame.function.name == "__setattr__" and frame.function.owner is not None
    return is_one and given == parameters and not any(stores_of(frame.function.node, name) for name in given)


def _sets(frame: WalkFrame, node: ast.Call) -> None:
    """Note the attribute that a ``__setattr__`` sets, of the object of the method where none is given."""
    found = set_by(node)
    if found is None:
        return
    owner, name, value = found
    of_method = AbstractValue(Kind.INSTANCE, payload=frame.function.owner) if frame.function.owner else TOP
    base, text = of_method if owner is None else base_value(frame, owner), frame.evaluate(name)
    sets_by_name(frame, base, text, TOP if value is None else frame.evaluate(value))
    if text.kind is Kind.STRING and isinstance(text.payload, str):
        runs_property_setters(frame, node, base, text.payload)


def _is_super(frame: WalkFrame, node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "super"
        and name_value(frame, "super").payload == "builtins.super"
    )


def base_value(frame: WalkFrame, node: ast.expr) -> AbstractValue:
    """Return what stands before a dot, or is called: a function there does not get about."""
    if isinstance(node, ast.Name):
        found = name_value(frame, node.id)
    elif isinstance(node, ast.Attribute):
        found = frame.attribute(node, base_value(frame, node.value), node.attr)
    else:
        found = frame.evaluate(node)
    frame.walk.is_partial = frame.walk.is_partial or found is BOTTOM
    return found


def arguments_of(
    frame: WalkFrame, node: ast.Call, receiver: AbstractValue = TOP, name: str = ""
) -> Arguments:
    """Walk the arguments of a call. The callee of a full name may call them, unless it only looks at them.

    The functions that code of the project is given count as called; the calls of classes there are followed.
    """
    args, kwargs, rest = list[AbstractValue](), dict[str, AbstractValue](), list[AbstractValue]()
    certain: int | None = None
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            value = frame.evaluate(argument.value)
            item = iterates(frame, argument, value)
            if value.kind is Kind.TUPLE and value.items is not None:
                args += value.items
            else:
                certain = len(args) if certain is None else certain
                rest.append(item)
                args.append(item)
        else:
            args.append(frame.evaluate(argument))
            rest += args[-1:] if rest else []  # in an unknown position
    for keyword in node.keywords:
        value = frame.evaluate(keyword.value)
        if keyword.arg is None:
            spreads_mapping(frame, keyword, value)
            rest.append(value.element or TOP if value.kind is Kind.DICT else TOP)
        else:
            kwargs[keyword.arg] = value
    if not only_looks(name):
        is_own = all(isinstance(each.payload, _OF_PROJECT) for each in receiver.options or (receiver,))
        receives(frame, node, (*args, *kwargs.values(), *rest), classes=not is_own)
    whole = join_all(rest) if rest else TOP
    return Arguments(tuple(args), kwargs, bool(rest), whole, certain, by_position=_spreads_no_names(node))


def _spreads_no_names(node: ast.Call) -> bool:
    return all(keyword.arg is not None for keyword in node.keywords)


@handles(TRANSFERS, "method")
def call_method(
    frame: WalkFrame, node: ast.Call, base: AbstractValue, name: str, args: Arguments
) -> AbstractValue:
    """Walk ``base.name(...)``; return the result."""
    if base is BOTTOM or BOTTOM in args.values:
        return BOTTOM
    options = having(frame, [each for each in base.options if each is not NONE] or [base], name)
    return join_all([_of_option(frame, node, each, name, args) for each in options])


def _of_option(
    frame: WalkFrame, node: ast.Call, base: AbstractValue, name: str, args: Arguments
) -> AbstractValue:
    kind, payload = base.kind, base.payload
    if name in REGISTERING:
        _registers(frame, base, args)
    if kind is Kind.TENSOR:
        return _of_tensor(frame, node, base, name, args)
    if kind is Kind.MODULE:
        if isinstance(payload, Module):
            return call_value(frame, node, module_value(frame.prover, payload, name), args, name)
        return call_outside(frame, node, f"{payload}.{name}", args)
    if kind is Kind.INSTANCE:
        return _of_instance(frame, node, base, name, args)
    if kind is Kind.CLASS and isinstance(payload, Class):
        return _of_class(frame, node, base, payload, name, args)
    if kind in {Kind.LIST, Kind.TUPLE, Kind.DICT, Kind.SET}:
        return _of_container(frame, node, base, name, args)
    if kind is Kind.STRING:
        method_reads(frame, node, base, name, args)
        return _of_text(frame, node, base, name, args)
    if kind is Kind.NDARRAY or kind is Kind.NUMBER:
        return _of_array(frame, node, name, args)
    if kind in {Kind.SLICE, Kind.DTYPE, Kind.DEVICE}:
        method_reads(frame, node, base, name, args)
        return NO_TENSOR
    return _of_anything(frame, node, base, name, args)


def _of_instance(
    frame: WalkFrame, node: ast.Call, base: AbstractValue, name: str, args: Arguments
) -> AbstractValue:
    payload = base.payload
    if isinstance(payload, Class):
        return _of_object(frame, node, base, payload, name, args)
    for each in frame.source.extending(str(payload)):  # an annotation allows objects of classes below
        for method in frame.source.overrides(each, "forward" if name == "__call__" else name):
            frame.calls(node, method)
    is_of_torch = str(payload).startswith(
        "torch."
    )  # the operation table has the receiver among the arguments
    return call_outside(frame, node, f"{payload}.{name}", args.on(base) if is_of_torch else args)


def _of_array(frame: WalkFrame, node: ast.Call, name: str, args: Arguments) -> AbstractValue:
    if any(map(may_hold_gpu, args.values)):
        reason = f"`{name}` of an array may be given a tensor on the GPU"
        frame.may(node, None, reason, "annotate the arguments")
    return host_arrays() if name != "tolist" else AbstractValue(Kind.LIST, element=NO_TENSOR)


def _registers(frame: WalkFrame, base: AbstractValue, args: Arguments) -> None:
    """Note the attribute that a method of a module sets."""
    given = [*args.args[1:2], *(each for key, each in args.kwargs.items() if key != "name")]
    sets_by_name(frame, base, args.given(0, "name"), given[0] if given else TOP)


def _of_tensor(
    frame: WalkFrame, node: ast.Call, base: AbstractValue, name: str, args: Arguments
) -> AbstractValue:
    if name in {"dim", "ndimension"}:
        return frame.attribute(node, base, "ndim")
    full = f"torch.Tensor.{name}"
    if frame.source.operation(full) is None and frame.prover.ran.called(frame.module, node) is not None:
        return unresolved(frame, node, args, name)  # what is here may be no tensor
    return call_outside(frame, node, full, args.on(base))


def _of_anything(
    frame: WalkFrame, node: ast.Call, base: AbstractValue, name: str, args: Arguments
) -> AbstractValue:
    """Walk a method of an unknown object: a tensor's method, or any other."""
    full = f"torch.Tensor.{name}"
    operation = frame.source.operation(full)
    if operation is not None and may_be_gpu(base):
        bound = Bound.of(operation, (base, *args.args), args.kwargs)
        if possible_case(bound, dense=frame.prover.is_dense) is not None or (
            args.spreads_more and (operation.blocks or operation.sometimes)
        ):
            return _of_tensor_or_other(frame, node, base, name, args)
    return unresolved(frame, node, args, name)


def _of_tensor_or_other(
    frame: WalkFrame, node: ast.Call, base: AbstractValue, name: str, args: Arguments
) -> AbstractValue:
    """Walk a method that blocks on a tensor: by the callees of a run, or else as a tensor's."""
    if frame.prover.ran.called(frame.module, node) is not None:
        return unresolved(frame, node, args, name)
    full = f"torch.Tensor.{name}"
    operation = frame.source.operation(full)
    assert operation is not None
    blocks(frame, node, full, Bound.of(operation, (base, *args.args), args.kwargs), spreads=args.spreads_more)
    return TOP


def _of_object(
    frame: WalkFrame, node: ast.Call, base: AbstractValue, cls: Class, name: str, args: Arguments
) -> AbstractValue:
    """Walk a method of an object of a class of the project, or of a subclass."""
    runs(frame, node, base, "__getattribute__")
    methods = frame.source.overrides(cls, name)
    stored = frame.prover.written(cls, name)
    if not methods:
        return _of_attribute(frame, node, base, cls, name, args, stored)
    found = []
    called = [method for method in methods if not method.is_property]
    if called:
        found.append(call_functions(frame, node, called, args, has_receiver=True))
    if len(called) < len(methods):
        value = of_instance(frame, node, base, cls, name)
        found.append(call_value(frame, node, value, args, name))
    if stored is not None:  # the project replaces the method
        found.append(call_value(frame, node, stored, args, name))
    return join_all(found)


def _of_attribute(
    frame: WalkFrame,
    node: ast.Call,
    base: AbstractValue,
    cls: Class,
    name: str,
    args: Arguments,
    stored: AbstractValue | None,
) -> AbstractValue:
    """Walk the call of an attribute's value, or of a method of a class outside of the project."""
    if stored is not None and stored is not TOP:
        return call_value(frame, node, stored, args, name)
    outside = list(dict.fromkeys(each for above in cls.mro() for each in above.external_bases))
    if stored is None and cls.is_module:
        return call_outside(frame, node, f"torch.nn.Module.{name}", args.on(base))
    if stored is None and outside and all(map(is_harmless_base, outside)) and name in _OF_PYTHON:
        runs(frame, node, base, *frame.source.special_names(cls))
        return TOP
    if stored is None and is_logging(outside, name) and not _replaces_logging(cls):
        return _logs(frame, node, name, args)
    return unresolved(frame, node, args, name)


def _logs(frame: WalkFrame, node: ast.Call, name: str, args: Arguments) -> AbstractValue:
    """Walk a call of a logger, which makes texts of its arguments."""
    for value in args.values:
        if value.kind is Kind.INSTANCE:
            runs(frame, node, value, "__str__", "__repr__")
    return call_outside(frame, node, f"logging.Logger.{name}", args)


def _replaces_logging(cls: Class) -> bool:
    """Return whether a class, or one above or below, replaces a method that loggers call themselves."""
    return any(is_of_logger(name) for each in related_to(cls) for name in each.methods)


def _of_class(
    frame: WalkFrame, node: ast.Call, base: AbstractValue, cls: Class, name: str, args: Arguments
) -> AbstractValue:
    found = call_class_method(frame, node, cls, name, args)
    if found is not None:
        return found
    if name == "_make" and may_hold_gpu(join_all([iterates(frame, node, each) for each in args.args])):
        return TOP  # the fields are of any types
    if name in {"_make", "__members__", "mro"}:
        return AbstractValue(Kind.INSTANCE, payload=cls)
    return call_value(frame, node, frame.attribute(node, base, name), args, name)


def _of_container(
    frame: WalkFrame, node: ast.Call, base: AbstractValue, name: str, args: Arguments
) -> AbstractValue:
    """Walk a method of a list, a tuple, a dictionary or a set."""
    method_reads(frame, node, base, name, args)
    if name in _COMPARE:
        return _compares(frame, node, base, name, args)
    if base.kind in {Kind.DICT, Kind.SET}:
        hashes(frame, node, *args.args, *([elements(base)] if args.args else []))
    if name in _PUT:
        return _puts(frame, node, base, name, args)
    if name in _GIVE:
        for value in args.args if name == "pop" else ():
            runs(frame, node, value, "__index__")
        return _gives(base, name, args)
    if name in _ALL_OF:
        return _all_of(base, name)
    if frame.prover.ran.called(frame.module, node) is not None:
        return unresolved(frame, node, args, name)  # what is here may be no container
    return frame.unknown(node, f"`{name}` of a container is not known")


def _puts(frame: WalkFrame, node: ast.Call, base: AbstractValue, name: str, args: Arguments) -> AbstractValue:
    """Walk a method that puts something into a container."""
    options = [option for value in args.args for option in value.options or (value,)]
    for value in options if name in {"extend", "update"} else ():
        if value.kind in {Kind.UNKNOWN, Kind.INSTANCE} and value is not HOST:
            iterates(frame, node, value)
            spreads_mapping(frame, node, value)
    for value in args.args[:1] if name == "insert" else ():
        runs(frame, node, value, "__index__")
    if name == "append" and args.args:
        fills(frame, node, base, args.args[0])
    elif name not in _DROP:
        given = tensors_of((*args.values, args.rest))
        widens(frame, getattr(node.func, "value", node.func), TOP, *given)
    return TOP if name == "setdefault" else NONE


def _compares(
    frame: WalkFrame, node: ast.Call, base: AbstractValue, name: str, args: Arguments
) -> AbstractValue:
    """Walk a method that compares items, or the results of a key function."""
    key = args.kwargs.get("key")
    if key is not None and key is not NONE:
        frame.call(node, key, Arguments((elements(base),)))
    item = elements(base)
    asked = args.args[0] if args.args else item
    compares(frame, node, (*args.args, item), "__eq__", "__lt__")
    if base.kind in {Kind.LIST, Kind.TUPLE} and (
        key is not None or args.spreads or may_read(frame, "Eq", asked, item)
    ):
        frame.may(node, None, f"`{name}` compares items that may be tensors on the GPU", "annotate the items")
    return INT if name != "sort" else NONE


def _gives(base: AbstractValue, name: str, args: Arguments) -> AbstractValue:
    """Return an item of a container, or the default."""
    if base.kind is Kind.DICT and name != "popitem":
        default = args.given(1, "default")
        return under_key(
            base, args.given(0, "key") or TOP, NONE if default is None and name == "get" else default
        )
    if base.kind is Kind.DICT:
        return AbstractValue(Kind.TUPLE, items=(keys_of(base), under_key(base, TOP, None)))
    item = elements(base)
    return join(item, args.given(1, "default") or item)


def _all_of(base: AbstractValue, name: str) -> AbstractValue:
    """Return a view of all items of a container, or of its keys, or of its values."""
    if base.kind is not Kind.DICT:
        return base
    value = base.element if base.element is not None else TOP
    keys = keys_of(base)
    pair = AbstractValue(Kind.TUPLE, items=(keys, value))
    return {"items": list_of(pair), "values": list_of(value), "copy": base}.get(name, list_of(keys, Kind.SET))


def _of_text(
    frame: WalkFrame, node: ast.Call, base: AbstractValue, name: str, args: Arguments
) -> AbstractValue:
    if name == "join":
        for value in args.args:
            iterates(frame, node, value)
    elif name in {"format", "format_map"}:
        formats_fields(frame, node, base, args, of_mapping=name == "format_map")
    return _OF_TEXT.get(name, BOOL if name.startswith(("is", "starts", "ends")) else STRING)

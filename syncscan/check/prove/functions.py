"""Calls of definitions of the project: functions, methods, classes and objects."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from syncscan.check.infer.domain.callables import BoundMethod
from syncscan.check.infer.source.index import Class, Function
from syncscan.check.infer.source.syntax import last_name
from syncscan.check.prove.decorators import decorate, is_context, keep_types
from syncscan.check.prove.frame import TRANSFERS, Arguments, WalkFrame, handles
from syncscan.check.prove.outside import call_outside, operation_call
from syncscan.check.prove.packages import holds_items, is_exception, is_harmless_base
from syncscan.check.prove.passed import bound
from syncscan.check.prove.receivers import CALLS_OF_MODULES, RECEIVERS, of_python
from syncscan.check.prove.setters import runs_setters
from syncscan.check.prove.special import (
    compares,
    hashes,
    python_bases,
    runs_hooks,
    runs_method,
    runs_replaced,
)
from syncscan.check.prove.unread import may_be_read
from syncscan.check.prove.values import (
    ANYWHERE,
    BOTTOM,
    CONTEXT,
    NO_TENSOR,
    NONE,
    SWALLOWING,
    TOP,
    AbstractValue,
    DictMethod,
    join_all,
    kept_outside,
)
from syncscan.model import Kind

_GIVING_NOTHING = frozenset(
    {
        "__init__",
        "__init_subclass__",
        "__post_init__",
        "__setattr__",
        "__delattr__",
        "__setitem__",
        "__delitem__",
    }
)
_OF_ATTRIBUTES = frozenset({"__setattr__", "__getattr__", "__getattribute__", "__delattr__"})
_CACHES = frozenset({"lru_cache", "cache", "functools.lru_cache", "functools.cache"})
# The methods by which types of Python take the arguments that make an object.
_TAKING = {
    **dict.fromkeys(("int", "float", "complex", "str", "bytes", "tuple", "frozenset"), ("__new__",)),
    **dict.fromkeys(("list", "set", "dict", "bytearray"), ("__new__", "__init__")),
}
_MAKERS = ("__new__", "__init__", "__post_init__", "__init_subclass__", "__del__", "_missing_")


@handles(TRANSFERS, "call")
def call_value(
    frame: WalkFrame, node: ast.AST, callee: AbstractValue, args: Arguments, among: str = ""
) -> AbstractValue:
    """Walk a call of a value; return the result."""
    if callee is BOTTOM or BOTTOM in args.values:
        return BOTTOM
    options = callee.options or (callee,)
    called = [each for each in options if _may_be_reached(frame, each)] or options
    return join_all([_call_option(frame, node, option, args, among) for option in called])


def _may_be_reached(frame: WalkFrame, callee: AbstractValue) -> bool:
    """Return whether a call may reach a value: of a run, a plain function whose body never ran was not called."""
    payload = callee.payload
    if isinstance(payload, Function):
        return not _runs_at_once(frame, payload) or frame.prover.ran.body(payload)
    if isinstance(payload, BoundMethod) and isinstance(payload.function, Function):
        methods = _overriding(frame, payload.function, payload.receiver)
        return any(not _runs_at_once(frame, each) or frame.prover.ran.body(each) for each in methods)
    return True


def _runs_at_once(frame: WalkFrame, function: Function) -> bool:
    """Return whether a call of a function runs the body at once, and nothing in its place."""
    form = frame.source.forms.of_function(function)
    return not (form.is_decorated or form.is_async or form.yields)


def _call_option(
    frame: WalkFrame, node: ast.AST, callee: AbstractValue, args: Arguments, among: str
) -> AbstractValue:
    payload = callee.payload
    if callee.kind is Kind.FUNCTION and isinstance(payload, Function):
        return call_function(frame, node, payload, args)
    if callee.kind is Kind.FUNCTION and isinstance(payload, BoundMethod):
        if isinstance(payload.function, DictMethod):
            return frame.method(node, payload.receiver, payload.function.name, args)
        if isinstance(payload.function, Function):
            functions = _overriding(frame, payload.function, payload.receiver)
            return call_functions(frame, node, functions, args, has_receiver=True)
    if callee.kind is Kind.CLASS and isinstance(payload, Class):
        return construct(frame, node, payload, args)
    if callee.kind is Kind.INSTANCE:
        return _call_object(frame, node, callee, args)
    if callee.kind is Kind.MODULE and isinstance(payload, str):
        return call_outside(frame, node, payload, args)
    if callee is NONE:
        return TOP  # raises
    return unresolved(frame, node, args, among)


def unresolved(frame: WalkFrame, node: ast.AST, args: Arguments, among: str) -> AbstractValue:
    """Walk a call whose target the source leaves open: the callees of a run, or any function.

    The record names what the call itself called, and not what a callee in C calls then, as `map` does.
    """
    names = frame.prover.ran.called(frame.module, node)
    if names is None or node in frame.resolving:
        return frame.unknown(node, among=among)
    frame.resolving.add(node)
    found = [call_named(frame, node, name, args, among) for name in sorted(names)]
    frame.resolving.discard(node)
    return join_all(found) if found else TOP


def call_named(frame: WalkFrame, node: ast.AST, name: str, args: Arguments, among: str) -> AbstractValue:
    """Walk a call of the full name that a run recorded."""
    own = frame.source.named(name.removesuffix(".__call__"))
    if isinstance(own, Class):
        if name.endswith(".__call__"):
            return _call_object(frame, node, AbstractValue(Kind.INSTANCE, payload=own), args)
        return construct(frame, node, own, args)
    if own is not None:
        return call_function(frame, node, own, args)
    if frame.source.is_own(name):
        return TOP  # a function without a name of its own, reached as code that ran
    full = of_python(name)
    if full.startswith("_syncscan_"):  # the project's replacement of a function of torch
        return frame.unknown(node, among=among)
    owner, _, method = full.rpartition(".")
    if full in CALLS_OF_MODULES:
        return TOP  # which runs `forward` and the hooks, reached as code that ran
    if owner in RECEIVERS:
        return frame.method(node, RECEIVERS[owner], method, args)
    return call_outside(frame, node, full, args)


def _overriding(frame: WalkFrame, function: Function, receiver: AbstractValue) -> Iterable[Function]:
    """Return the methods that a bound method may be, overrides in subclasses included."""
    cls = receiver.payload
    return frame.source.overrides(cls, function.name) if isinstance(cls, Class) else (function,)


def call_functions(
    frame: WalkFrame,
    node: ast.AST,
    functions: Iterable[Function],
    args: Arguments,
    *,
    has_receiver: bool = False,
) -> AbstractValue:
    """Walk a call of any of several functions; with a trace, of functions that ran."""
    found = [
        call_function(frame, node, function, args, has_receiver=has_receiver)
        for function in functions
        if frame.prover.ran.body(function)
    ]
    return join_all(found) if found else TOP


def call_function(
    frame: WalkFrame, node: ast.AST, function: Function, args: Arguments, *, has_receiver: bool = False
) -> AbstractValue:
    """Walk a call of a function of the project, a method's with the receiver before its arguments or not; return the result."""
    declared = frame.source.declared.get(function)
    if declared is not None:
        frame.assume(f"`{declared}` does what [tool.syncscan.operations] declares")
        result = operation_call(frame, node, declared, args)
        return frame.prover.assumptions.of_call(function, result)
    if function.is_kernel:
        if any("autotune" in name for name in function.decorators):
            reason = f"the first launch of `{function.name}` for each key measures it, which synchronizes"
            frame.may(node, None, reason, "launch each key before the step")
        return TOP
    values = (
        bound(frame.prover, function, args, has_receiver=has_receiver)
        if frame.prover.ran.knows_calls
        else None
    )
    frame.calls(node, function, values)
    is_plain = decorate(frame, node, function)
    if not _CACHES.isdisjoint(function.decorators):
        hashes(frame, node, *args.values)
    if is_context(function):
        return _context_of(frame, function, is_plain=is_plain)
    found = frame.prover.returned(function) if is_plain else TOP
    if not is_plain and keep_types(frame, function):
        found = frame.source.promised_result(function)
    returned = frame.source.returned_parameter(function) if found is TOP and is_plain else ""
    if returned:
        return kept_outside(bound(frame.prover, function, args, has_receiver=has_receiver).get(returned, TOP))
    return found


def _context_of(frame: WalkFrame, function: Function, *, is_plain: bool) -> AbstractValue:
    """Return the context of a generator, which swallows an exception if it goes on behind its ``yield``."""
    passes_on = is_plain and not frame.prover.asked(function).swallows
    return CONTEXT if passes_on else SWALLOWING


def construct(frame: WalkFrame, node: ast.AST, cls: Class, args: Arguments) -> AbstractValue:
    """Walk the making of an object of a class, or of one below it."""
    made = [method for name in _MAKERS for method in frame.source.overrides(cls, name)]
    for method in made:
        values = (
            bound(frame.prover, method, args, has_receiver=True) if frame.prover.ran.knows_calls else None
        )
        frame.calls(node, method, values)
        decorate(frame, node, method)
    made_object = AbstractValue(Kind.INSTANCE, payload=cls)
    for name in _MAKERS:
        runs_replaced(
            frame, node, made_object, name, of_any=False
        )  # decorators of the class are followed below
    for name in cls.fields() if cls.is_record else ():  # which the ``__init__`` of a dataclass sets
        runs_setters(frame, node, made_object, name)
    for each in filter(frame.prover.ran.made, (cls, *cls.subclasses)):
        _makes_defaults(frame, node, each)
        decorate(frame, node, each)
        _runs_metaclass(frame, node, each)
    _reads_as_python(frame, node, cls, args)
    strange = [name for each in cls.mro() for name in each.external_bases if not is_harmless_base(name)]
    if any(name in {"torch.Tensor", "torch.nn.Parameter"} for name in strange):
        return ANYWHERE
    for name in dict.fromkeys(strange):
        call_outside(frame, node, name, Arguments(spreads=True))
    _unresolved_bases(frame, node, cls)
    return made_object


def _reads_as_python(frame: WalkFrame, node: ast.AST, cls: Class, args: Arguments) -> None:
    """Walk the reads of arguments by the types of Python that a class extends, unless its own methods take the arguments."""
    if cls.is_enumeration:  # which looks up the member of a value
        compares(frame, node, args.values, "__eq__", "__hash__")
        if any(map(may_be_read, args.values)):
            reason = f"`{cls.name}` compares its members with what may be a tensor on the GPU"
            frame.may(node, None, reason, "annotate the value with a type that is no tensor")
        return
    for name in python_bases(frame, cls):
        own = ("__str__",) if is_exception(name) else _TAKING.get(name)
        if own is not None and not any(frame.source.overrides(cls, each) for each in own):
            call_outside(frame, node, f"builtins.{name}", args)


def _reads_above(frame: WalkFrame, node: ast.AST, owner: Class, name: str, args: Arguments) -> None:
    """Walk the reads of the arguments that ``super().__new__`` or ``super().__init__`` gives to a type of Python."""
    given = args.behind_first() if name == "__new__" else args
    for base in python_bases(frame, owner):
        shows = is_exception(base) and not frame.source.overrides(owner, "__str__") and name == "__init__"
        if shows or name == _TAKING.get(base, ("",))[-1]:
            call_outside(frame, node, f"builtins.{base}", given)


def _runs_metaclass(frame: WalkFrame, node: ast.AST, cls: Class) -> None:
    """Note the call of a class by its metaclass."""
    known = frame.source.metaclasses(cls)
    for meta in known:
        for method in frame.source.overrides(meta, "__call__"):
            runs_method(frame, node, method)
    for keyword in cls.node.keywords if not known else ():
        if keyword.arg == "metaclass" and not last_name(keyword.value).endswith("Meta"):
            frame.unknown(node, f"the metaclass of `{cls.name}` is not known")


def _unresolved_bases(frame: WalkFrame, node: ast.AST, cls: Class) -> None:
    """Note the unknown bases of a class."""
    for each in cls.mro():
        if len(each.bases) + len(each.external_bases) < len(
            [base for base in each.node.bases if not _is_generic(base)]
        ):
            frame.unknown(node, f"a base of `{each.name}` is not known")


def _is_generic(base: ast.expr) -> bool:
    head = base.value if isinstance(base, ast.Subscript) else base
    return last_name(head) in {"object", "Generic", "Protocol", "Exception"} or last_name(head).endswith(
        ("Error", "Exception", "Warning", "dict", "list", "tuple", "str", "int", "float", "set", "type")
    )


def _makes_defaults(frame: WalkFrame, node: ast.AST, cls: Class) -> None:
    """Walk the factories of a dataclass's defaults."""
    records = [each for each in cls.mro() if each.is_record]
    for owner, statement in ((each, node) for each in records for node in each.node.body):
        value = getattr(statement, "value", None)
        if isinstance(value, ast.Call) and last_name(value.func) == "field":
            for keyword in value.keywords:
                if keyword.arg == "default_factory":
                    factory = _evaluated_at(frame, owner, keyword.value)
                    call_value(frame, node, factory, Arguments())


def _evaluated_at(frame: WalkFrame, cls: Class, node: ast.expr) -> AbstractValue:
    """Return the value of an expression in the body of a class."""
    if isinstance(node, ast.Lambda):
        outer = cls.parent or cls.module.body
        function = frame.source.scopes.function_of(node, outer, None)
        return AbstractValue(Kind.FUNCTION, payload=function)
    found = frame.source.program.lookup_dotted(cls.module, ast.unparse(node), cls.parent)
    if isinstance(found, Function):
        return AbstractValue(Kind.FUNCTION, payload=found)
    if isinstance(found, Class):
        return AbstractValue(Kind.CLASS, payload=found)
    if isinstance(found, str):
        return AbstractValue(Kind.MODULE, payload=found)
    name = frame.source.program.full_name(node, cls.module, cls.parent)
    return AbstractValue(Kind.MODULE, payload=name) if name.startswith("builtins.") else TOP


def _call_object(frame: WalkFrame, node: ast.AST, callee: AbstractValue, args: Arguments) -> AbstractValue:
    """Walk a call of an object; a module of torch runs its `forward` and the hooks."""
    cls = callee.payload
    if not isinstance(cls, Class):
        for each in frame.source.extending(str(cls)):
            for method in (
                *frame.source.overrides(each, "__call__"),
                *frame.source.overrides(each, "forward"),
            ):
                frame.calls(node, method)
        return call_outside(frame, node, f"{cls}.__call__", args)
    methods = frame.source.overrides(cls, "__call__")
    if not methods and any(each.is_module for each in (cls, *cls.subclasses)):
        methods = frame.source.overrides(cls, "forward")
        replaced = frame.prover.written(cls, "forward")
        if replaced is not None:
            call_value(frame, node, replaced, args, "forward")
        runs_hooks(frame, node)
    if not methods and frame.prover.ran.called(frame.module, node) is not None:
        return unresolved(frame, node, args, "")
    if not methods:
        return frame.unknown(node, f"`__call__` of `{cls.name}` is not in the project")
    return call_functions(frame, node, methods, args, has_receiver=True)


def call_super(frame: WalkFrame, node: ast.Call, name: str, args: Arguments) -> AbstractValue:
    """Walk ``super().name(...)``: the next method above, for each class that the object may be of."""
    owner = _owner(frame.function)
    if owner is None:
        return frame.unknown(node, among=name)
    methods, outside = frame.source.above(owner, name)
    _reads_above(frame, node, owner, name, args)
    values = [call_function(frame, node, method, args, has_receiver=True) for method in methods]
    containers = [base for base in outside if holds_items(base)]
    strange = [base for base in outside if not _is_plain(base, name) and base not in containers]
    values += [call_outside(frame, node, f"{base}.{name}", args) for base in strange]
    if (containers or not (methods or outside)) and not name.startswith("__"):
        values.append(unresolved(frame, node, args, name))
    return join_all(values) if values else _of_object(frame, node, name, args)


def _is_plain(base: str, name: str) -> bool:
    """Return whether a method of a base outside runs no code of the GPU: the certificate assumes so of attributes."""
    return name in _OF_ATTRIBUTES or (is_harmless_base(base) and name.startswith("__"))


def _of_object(frame: WalkFrame, node: ast.Call, name: str, args: Arguments) -> AbstractValue:
    """Return the result of a special method of ``object``, or of another class of Python's own."""
    if name == "__getattribute__":
        attribute = args.given(0, "name")
        text = attribute.payload if attribute is not None and attribute.kind is Kind.STRING else None
        return frame.attribute(node, NO_TENSOR, text) if text == "__dict__" else TOP
    return NONE if name in _GIVING_NOTHING else TOP


def _owner(function: Function | None) -> Class | None:
    """Return the class in whose method a function stands."""
    while function is not None:
        if function.owner is not None:
            return function.owner
        function = function.parent
    return None


def call_class_method(
    frame: WalkFrame, node: ast.AST, cls: Class, name: str, args: Arguments
) -> AbstractValue | None:
    """Walk ``Class.name(...)``; None where the project defines no such method."""
    if name == "apply" and cls.is_differentiable:
        methods = [
            m for each in ("forward", "backward", "setup_context") for m in frame.source.overrides(cls, each)
        ]
        for method in methods[1:]:
            frame.calls(node, method)
        return call_functions(frame, node, methods[:1], args) if methods else None
    methods = list(frame.source.overrides(cls, name))
    is_of_class = all(method.is_of_class for method in methods)
    return call_functions(frame, node, methods, args, has_receiver=is_of_class) if methods else None

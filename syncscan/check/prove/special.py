"""Special methods: those that Python, and code outside of the project, run where the source shows no call of them."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from syncscan.check.infer.source.index import Class, Function
from syncscan.check.prove.bodies import related_to
from syncscan.check.prove.decorators import decorate
from syncscan.check.prove.frame import Arguments, WalkFrame
from syncscan.check.prove.packages import holds_items, is_exception, is_harmless_base
from syncscan.check.prove.source import Asked, Question
from syncscan.check.prove.values import AbstractValue, may_hold_gpu, parts_of
from syncscan.model import Kind

ANY = Arguments(spreads=True)
ITERATION = ("__iter__", "__next__", "__getitem__", "__len__", "__aiter__", "__anext__")
ORDERING = ("__lt__", "__le__", "__gt__", "__ge__")
MAPPING = ("keys", "__getitem__", "__iter__")  # which ``f(**x)`` and ``dict(x)`` run


def runs_method(frame: WalkFrame, node: ast.AST, method: Function) -> None:
    """Note that Python runs a method, and what its decorators made of it."""
    frame.calls(node, method)
    decorate(frame, node, method)


def runs(frame: WalkFrame, node: ast.AST, value: AbstractValue, *names: str) -> None:
    """Note the special methods of some names that Python may run on a value."""
    for option in value.options or (value,):
        for name in names:
            _runs_of(frame, node, option, name)


def _runs_of(frame: WalkFrame, node: ast.AST, value: AbstractValue, name: str) -> None:
    cls, source = value.payload, frame.source
    methods: Iterable[Function] = ()
    if value.kind is Kind.UNKNOWN:
        methods = source.methods_named(name)
    elif isinstance(cls, Class) and value.kind is Kind.INSTANCE:
        methods = source.overrides(cls, name)
    elif isinstance(cls, Class) and value.kind is Kind.CLASS:
        methods = [each for meta in source.metaclasses(cls) for each in source.overrides(meta, name)]
    for method in methods:
        runs_method(frame, node, method)
    if value.kind is Kind.INSTANCE or value.kind is Kind.UNKNOWN:
        runs_replaced(frame, node, value, name)


def runs_replaced(
    frame: WalkFrame, node: ast.AST, value: AbstractValue, name: str, *, of_any: bool = True
) -> None:
    """Note the special methods that functions of the project set: ``cls.__len__ = length``; ``of_any``, on any class too."""
    cls = value.payload if isinstance(value.payload, Class) else None
    outside = {each for above in cls.mro() for each in above.external_bases} if cls is not None else set()
    for setting, _ in frame.prover.answer(Question(Asked.STORING, name=name)):
        for base, stored in frame.prover.asked(setting).stored.get(name, ()):
            other = base.payload
            if isinstance(other, Class):
                may_be = cls is None or cls in other.mro() or other in cls.mro()
            else:  # a class outside of the project, or any object
                may_be = cls is None or other in outside or (of_any and base.kind is not Kind.MODULE)
            if may_be:
                frame.call(node, stored, ANY)


def asks_classes(frame: WalkFrame, node: ast.AST, classes: Iterable[AbstractValue]) -> None:
    """Note the methods by which classes of the project answer ``isinstance``."""
    for value in classes:
        for part in parts_of(value):
            cls = part.payload
            if isinstance(cls, Class):
                runs(frame, node, part, "__instancecheck__", "__subclasscheck__")
                for method in frame.source.overrides(cls, "__subclasshook__"):
                    runs_method(frame, node, method)
            elif part.kind is Kind.UNKNOWN:
                runs_any(frame, node, "__instancecheck__", "__subclasscheck__", "__subclasshook__")


def runs_hooks(frame: WalkFrame, node: ast.AST) -> None:
    """Note the hooks that the call of any module runs."""
    for hook in frame.prover.hooks():
        if isinstance(hook, Function):
            frame.calls(node, hook)
        else:
            frame.unknown(node, f"runs the hook that {hook} registers")


def runs_any(frame: WalkFrame, node: ast.AST, *names: str) -> None:
    """Note every method of the project of some names."""
    for name in names:
        for method in frame.source.methods_named(name):
            runs_method(frame, node, method)


def runs_descriptors(frame: WalkFrame, node: ast.AST, value: AbstractValue, name: str, special: str) -> None:
    """Note the descriptors that the reading, setting or deleting of an attribute may run: ``__get__``, ``__set__``, ``__delete__``."""
    source = frame.source
    if not source.methods_named(special):
        return
    for option in value.options or (value,):
        cls = option.payload
        classes: Iterable[Class] = related_to(cls) if isinstance(cls, Class) else ()
        if option.kind is Kind.UNKNOWN:
            classes = source.bodies.assigning(name)
        if source.bodies.may_describe(classes, name, special):
            runs_any(frame, node, special)


def compares(frame: WalkFrame, node: ast.AST, values: Iterable[AbstractValue], *names: str) -> None:
    """Note the methods of the project that a comparison of values, and of the items in them, may run."""
    for value in values:
        for part in parts_of(value):
            runs(frame, node, part, *names)
            cls = part.payload if part.kind is Kind.INSTANCE else None
            if isinstance(cls, Class) and cls.is_record:  # compares its fields
                for field in fields_of(frame, cls):
                    runs(frame, node, field, *names)


def fields_of(frame: WalkFrame, cls: Class) -> list[AbstractValue]:
    """Return the values of all fields of a record, those of classes below among them."""
    return [
        frame.prover.attribute(each, name)
        for each in (cls, *cls.subclasses)
        if each.is_record
        for name in each.fields()
    ]


def hashes(frame: WalkFrame, node: ast.AST, *keys: AbstractValue) -> None:
    """Note the methods of the project that a dictionary or a set runs on keys."""
    compares(frame, node, keys, "__hash__", "__eq__")


def runs_of_torch(frame: WalkFrame, node: ast.AST, *names: str) -> None:
    """Note the methods of some names of the classes that extend one of torch."""
    for name in names:
        for cls, method in frame.source.definers(name):
            if cls.is_module or any(
                base.startswith("torch.") for each in cls.mro() for base in each.external_bases
            ):
                runs_method(frame, node, method)


def given_outside(frame: WalkFrame, node: ast.AST, values: Iterable[AbstractValue]) -> None:
    """Note the special methods that code outside of the project may run on the objects that it is given."""
    for value in values:
        for part in parts_of(value):
            cls = part.payload
            if part.kind is Kind.INSTANCE and isinstance(cls, Class):
                for name in frame.source.special_names(cls):
                    runs(frame, node, part, name)
            if part.kind in {Kind.INSTANCE, Kind.CLASS} and isinstance(cls, Class) and _is_called_back(cls):
                for each in (cls, *cls.subclasses):
                    for method in each.methods.values():
                        runs_method(frame, node, method)


def _is_called_back(cls: Class) -> bool:
    """Return whether a class extends one of another package, which may call each of its methods."""
    return not all(is_harmless_base(base) for each in cls.mro() for base in each.external_bases)


def may_hold_items(frame: WalkFrame, cls: Class) -> bool:
    """Return whether objects of a class are containers that may hold tensors on the GPU.

    A ``TypedDict`` declares its items, and so does a base such as ``list[int]``.
    """
    bases = _bases(frame, cls)
    if not any(name.endswith(".TypedDict") for name, _, _ in bases):
        containers = [(base, each) for name, base, each in bases if holds_items(name)]
        return any(
            may_hold_gpu(frame.source.promised(base, each.module, each.parent)) for base, each in containers
        )
    names = {name: each for each in related_to(cls) for name in each.annotations}
    return any(may_hold_gpu(frame.prover.attribute(each, name)) for name, each in names.items())


def python_bases(frame: WalkFrame, cls: Class) -> list[str]:
    """Return the types of Python that a class extends."""
    names = [name for name, _, _ in _bases(frame, cls)]
    return [name.removeprefix("builtins.") for name in names if name.startswith("builtins.")]


def _bases(frame: WalkFrame, cls: Class) -> list[tuple[str, ast.expr, Class]]:
    """Return the bases of a class and of those above, each with its full name and the class that names it."""
    found = []
    for each in cls.mro():
        for base in each.node.bases:
            head = base.value if isinstance(base, ast.Subscript) else base
            found.append((frame.source.program.full_name(head, each.module, each.parent), base, each))
    return found


def runs_texts_of_exceptions(frame: WalkFrame, node: ast.AST) -> None:
    """Note the methods that make the text of the exception at hand, which may be any of the project."""
    for name in ("__str__", "__repr__"):
        for cls, method in frame.source.definers(name):
            bases = [*python_bases(frame, cls), *(base for each in cls.mro() for base in each.external_bases)]
            if any(map(is_exception, bases)):
                runs_method(frame, node, method)

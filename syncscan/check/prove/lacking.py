"""Values without an attribute of a name: reading the attribute raises, so what it would be need not be considered."""

from __future__ import annotations

from syncscan.check.infer.source.index import Class
from syncscan.check.prove.bodies import related_to
from syncscan.check.prove.frame import WalkFrame
from syncscan.check.prove.outline import ANY_NAME
from syncscan.check.prove.packages import TRANSPARENT_DECORATORS
from syncscan.check.prove.source import Asked, Question, of_classes
from syncscan.check.prove.values import AbstractValue
from syncscan.model import Kind

_EMPTY_BASES = frozenset({"object", "abc.ABC", "typing.Generic", "typing.Protocol"})
_DYNAMIC = ("__getattr__", "__getattribute__")
# Attributes of a number, those of the scalars of NumPy among them.
_OF_NUMBERS = frozenset(
    {*dir(int), *dir(float), *dir(complex), "T", "all", "any", "argmax", "argmin", "argsort", "astype", "byteswap", "choose",
     "clip", "compress", "copy", "cumprod", "cumsum", "data", "diagonal", "dtype", "dump", "dumps", "fill", "flags", "flat",
     "flatten", "getfield", "item", "itemset", "itemsize", "max", "mean", "min", "nbytes", "ndim", "newbyteorder", "nonzero",
     "prod", "ptp", "put", "ravel", "repeat", "reshape", "resize", "round", "searchsorted", "setfield", "setflags", "shape",
     "size", "sort", "squeeze", "std", "strides", "sum", "swapaxes", "take", "tobytes", "tofile", "tolist", "trace",
     "transpose", "var", "view", "device", "to_device"}
)  # fmt: skip


def having(frame: WalkFrame, options: list[AbstractValue], name: str) -> list[AbstractValue]:
    """Return the options of a value that may have an attribute of a name; all of them where none is known to have it."""
    if len(options) < 2 or name.startswith("__"):
        return options
    return [each for each in options if not _lacks(frame, each, name)] or options


def _lacks(frame: WalkFrame, value: AbstractValue, name: str) -> bool:
    if value.kind is Kind.NUMBER:
        return name not in _OF_NUMBERS and frame.source.operation(f"torch.Tensor.{name}") is not None
    cls = value.payload
    return value.kind is Kind.INSTANCE and isinstance(cls, Class) and _class_lacks(frame, cls, name)


def _class_lacks(frame: WalkFrame, cls: Class, name: str) -> bool:
    """Return whether no object of a class, or of one below it, may have an attribute: nothing defines or sets it."""
    source, related = frame.source, {*related_to(cls)}
    if any(source.overrides(cls, each) for each in (name, *_DYNAMIC)) or source.bodies.functions_of(
        related, name
    ):
        return False
    if any(name in each.nested or each.annotates(name) for each in related):
        return False
    if any(True for _ in source.bodies.plain(related, name)) or frame.prover.written(cls, name) is not None:
        return False
    anywhere = of_classes(frame.prover.answer(Question(Asked.STORING, name=ANY_NAME)), related)
    return not any(map(frame.prover.ran.body, anywhere)) and all(_is_plain(frame, each) for each in related)


def _is_plain(frame: WalkFrame, cls: Class) -> bool:
    """Return whether the source shows all that a class has: every base is read, and no decorator adds to it."""
    if not _EMPTY_BASES.issuperset(cls.external_bases):
        return False
    form = frame.source.forms.of_class(cls)
    if form.has_keywords or len(cls.bases) + len(cls.external_bases) < form.bases:
        return False
    if not form.is_decorated:  # else the file is read
        return True
    return all(each.name in TRANSPARENT_DECORATORS for each in frame.source.decoration(cls))

"""Argument checks of ``torch.distributions``: what a class of the project has checked, and whether the project turns all checks off."""

from __future__ import annotations

from collections.abc import Sequence

from syncscan.check.infer.domain.basic import FALSE, TENSOR, TRUE
from syncscan.check.infer.domain.lattice import join_all
from syncscan.check.infer.domain.value import BOTTOM, DIFFERS, AbstractValue, fact, refine
from syncscan.check.infer.source.index import Class
from syncscan.check.infer.transfer.call import Call
from syncscan.check.infer.transfer.conditions import Bound
from syncscan.check.infer.transfer.operands import tensor_in, tensors_alone_in
from syncscan.check.infer.transfer.point import Point
from syncscan.model import ON_GPU, Confidence, Kind

_PACKAGE = "torch.distributions."
_BASES = frozenset({f"{_PACKAGE}Distribution", f"{_PACKAGE}distribution.Distribution"})


def sets_default_of_checks(name: str) -> bool:
    """Return whether a function sets the default of all distributions: a static method that each class inherits."""
    return name.startswith(_PACKAGE) and name.endswith(".set_default_validate_args")


def is_default_of_checks(base: AbstractValue, name: str) -> bool:
    """Return whether an attribute is the default of all distributions: ``Distribution._validate_args``."""
    return name == "_validate_args" and base.kind is Kind.MODULE and base.payload in _BASES


def note_default_checks(at: Point, value: AbstractValue) -> None:
    """Contribute to the default; a test suite does not speak for the project."""
    if not at.module.is_outside:
        at.tell(at.context.known.default_checks, value)


def on_tensors(at: Point, name: str, bound: Bound) -> Bound:
    """Return a call of a distribution on the tensors among its arguments, or on the numbers where there is none.

    It takes no list for a parameter, and of ``float | Tensor`` it is the tensor that decides. An unknown value that a
    distribution on the GPU is asked for is a tensor there.
    """
    if not name.startswith(_PACKAGE):
        return bound
    values = {
        arg: tuple(map(tensors_alone_in, each)) for arg, each in bound.values.items() if arg not in _SHAPES
    }
    itself = bound.get("self")
    if itself is not None and itself.device in ON_GPU and bound.get("value") is BOTTOM and at.use():
        values["value"] = (refine(TENSOR, device=itself.device, confidence=Confidence.INFERRED),)
    return bound._replace(values=bound.values | values)


def is_plain_distribution(name: str) -> bool:
    """Return whether a class is the base of all distributions, whose constructor checks the attributes of the object."""
    return name in _BASES


def check_parameters(at: Point, cls: Class, call: Call) -> AbstractValue:
    """Check the attributes that ``arg_constraints`` names, as the constructor of the base class does, like values of a method."""
    if call.given(2, "validate_args") is FALSE:
        return BOTTOM
    itself = AbstractValue(Kind.INSTANCE, payload=cls)
    constraints = at.attribute(itself, "arg_constraints")
    keys = constraints.payload if constraints.kind is Kind.DICT else ()
    names = [key for key in keys or () if isinstance(key, str)]
    checked = join_all([tensor_in(at.attribute(itself, name)) for name in names])
    at.call_outside(f"{_PACKAGE}Distribution._validate_sample", Call((itself, checked), {}, call.site))
    return checked


# In place of the dtype of a distribution: whether its methods check values. Values that differ join as dtypes do.
_CHECKED, _UNCHECKED = "checked", "unchecked"

# An inner distribution of these classes ignores `validate_args=False` (measured on the simulated GPU, torch 2.13).
_CHECK_INSIDE = frozenset({
    f"{_PACKAGE}{name}" for name in ("OneHotCategorical", "OneHotCategoricalStraightThrough", "RelaxedBernoulli")
})  # fmt: skip


def with_checks(bound: Bound, made: AbstractValue) -> AbstractValue:
    """Return a distribution that a call makes, marked by whether its methods check values: itself, or the one that it wraps."""
    if made.kind is not Kind.INSTANCE or not str(made.payload).startswith(_PACKAGE):
        return made
    wrapped = wrapped_in(bound)
    told = wrapped if made.payload == f"{_PACKAGE}Independent" and wrapped is not None else _told(bound)
    if made.payload in _CHECK_INSIDE:
        told = refine(made, dtype=_CHECKED)
    return _marked(made, [told, *([wrapped] if wrapped is not None else [])])


def _told(bound: Bound) -> AbstractValue:
    """Return a distribution that is marked by the argument ``validate_args`` alone."""
    given = bound.get("validate_args")
    if given is FALSE:
        return refine(_ANY, dtype=_UNCHECKED)
    if given is None or given.kind is Kind.NONE or given is TRUE:
        return refine(_ANY, dtype=_CHECKED)
    return _ANY if given is BOTTOM else refine(_ANY, dtype=DIFFERS)


def _marked(made: AbstractValue, parts: Sequence[AbstractValue]) -> AbstractValue:
    """Return a distribution that checks values if a part of it does."""
    marks = [fact(each, "dtype") for each in parts]
    if None in marks:
        return made  # not known yet
    mark = _CHECKED if _CHECKED in marks else DIFFERS if DIFFERS in marks else _UNCHECKED
    return refine(made, dtype=mark)


_ANY = AbstractValue(Kind.INSTANCE, payload=f"{_PACKAGE}Distribution")


def wrapped_in(bound: Bound) -> AbstractValue | None:
    """Return the distribution that a call wraps in another one, or None."""
    wrapped: AbstractValue | None = bound.get("base_distribution")
    return wrapped


_SHAPES = frozenset({"self", "sample_shape", "validate_args"})


def settle_checks(at: Point, name: str, bound: Bound) -> bool:
    """Bind the project's default where a call leaves the checks to it; return whether a method checks its value."""
    itself = bound.get("self")
    if itself is not None and itself.kind is Kind.INSTANCE and itself.dtype == _UNCHECKED:
        return "value" not in bound.values
    given = bound.get("validate_args")
    if not name.startswith(_PACKAGE) or (given is not None and given.kind is not Kind.NONE):
        return True
    if at.read(at.context.known.default_checks) is not FALSE:
        return True
    bound.values["validate_args"] = (FALSE,)
    return "value" not in bound.values

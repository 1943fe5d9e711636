"""Custom autograd operations: subclasses of ``torch.autograd.Function``.

``apply`` calls ``forward`` with a context. Torch calls ``backward`` with gradients on the device of the
results. The context carries values from ``forward`` to ``backward``, and is modelled as an object of the
class.
"""

from __future__ import annotations

from syncscan.check.infer.domain.basic import partial_of, sequence
from syncscan.check.infer.domain.value import BOTTOM, AbstractValue
from syncscan.check.infer.source.index import Class, Function
from syncscan.check.infer.transfer.call import Call
from syncscan.check.infer.transfer.point import Point
from syncscan.check.infer.transfer.storing import store_attribute
from syncscan.model import Kind

_WITH_CONTEXT = frozenset({"forward", "setup_context", "backward", "vjp", "jvp"})
_GIVEN_GRADIENTS = frozenset({"backward", "vjp", "jvp"})
_KEEP = frozenset({"save_for_backward", "save_for_forward"})


def applied(at: Point, cls: Class) -> AbstractValue:
    """Return the callable ``apply`` of such a class."""
    at.asks(cls, "forward")
    at.asks(cls, "setup_context")
    forward = cls.find_method("forward")
    if forward is None:
        return BOTTOM
    callee = AbstractValue(Kind.FUNCTION, payload=forward)
    return partial_of(callee, [_context(cls)], {}) if takes_context(forward) else callee


def takes_context(function: Function) -> bool:
    """Return whether the first parameter of a method is the context; not for ``forward`` beside a ``setup_context``."""
    cls = function.owner
    if (
        cls is None
        or not cls.is_differentiable
        or not function.is_static
        or function.name not in _WITH_CONTEXT
    ):
        return False
    return function.name != "forward" or cls.find_method("setup_context") is None


def takes_gradients(function: Function) -> bool:
    """Return whether the parameters of a method after its context are gradients."""
    return function.name in _GIVEN_GRADIENTS and takes_context(function)


def receiver(function: Function) -> AbstractValue:
    """Return the context that a method receives."""
    assert function.owner is not None
    return _context(function.owner)


def _context(cls: Class) -> AbstractValue:
    return AbstractValue(Kind.INSTANCE, payload=cls)


def keep(at: Point, cls: Class, name: str, call: Call) -> bool:
    """Store the tensors of ``save_for_backward``; return whether the call was such a method of a context."""
    if name not in _KEEP or not cls.is_differentiable:
        return False
    store_attribute(at, cls, "saved_tensors", sequence([*call.args], Kind.TUPLE))
    return True

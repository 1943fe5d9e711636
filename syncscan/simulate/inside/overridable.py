"""Replacements for methods and attributes of tensors that modes and subclasses of the program see as torch's own.

A replacement compares and hashes like the original. A subclass thus finds it in its own dictionaries of torch
functions, whenever the program imported the subclass.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import handle_torch_function, has_torch_function_unary

from .marks import PLAIN_TENSORS, function_modes
from .tracebacks import does_not_fit, hide


class WrongArgumentsError(Exception):
    """The arguments are invalid; `Method` then calls the original, so that torch raises its own error."""


class Method:
    """A replacement for a tensor method, or for a function of a tensor."""

    def __init__(self, original: Any, implementation: Callable[..., Any]) -> None:
        self.__doc__, self.__qualname__ = original.__doc__, original.__qualname__
        self._original = original
        self._implementation = implementation

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call an override of the program, else the implementation, else torch itself where the arguments are invalid."""
        try:
            if args and _is_overridden(args[0]):
                return handle_torch_function(self, args[:1], *args, **kwargs)
            return call_fitting(self._implementation, self._original, args, kwargs)
        except BaseException as error:
            try:
                hide(error)
            except RecursionError:  # no room for it: no other frame than ours lies below
                error.__traceback__ = None
            raise

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)

    def __eq__(self, other: object) -> bool:
        return other is self or other == self._original

    def __hash__(self) -> int:
        return hash(self._original)

    def __repr__(self) -> str:
        return repr(self._original)

    def __reduce__(self) -> Any:
        return self._original.__reduce__()


def call_fitting(implementation: Any, original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a replacement, or the original where the arguments do not fit, so that torch raises its own error."""
    try:
        return implementation(*args, **kwargs)
    except WrongArgumentsError:
        pass
    except TypeError as error:
        if not does_not_fit(error):
            raise
    return original(*args, **kwargs)


class Attribute(property):
    """A replacement for a read-only tensor attribute, whose ``__get__`` is the function that overrides receive."""

    def __init__(self, original: Any, implementation: Callable[[torch.Tensor], Any]) -> None:
        seen = Method(original.__get__, implementation)
        super().__init__(seen.__call__)
        vars(self).update({"__get__": seen, "__doc__": original.__doc__})


def _is_overridden(tensor: Any) -> bool:
    """Return whether a class or a mode of the program intercepts operations on a tensor."""
    kind = type(tensor)
    of_class = kind not in PLAIN_TENSORS and hasattr(kind, "__torch_function__")
    return (of_class or function_modes() > 1) and has_torch_function_unary(tensor)

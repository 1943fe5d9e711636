"""Methods and attributes of tensors that stand in for those of torch.

Modes and subclasses of the program see their calls as they see those of torch. What they get compares and
hashes like torch's own, so that a subclass finds it among the functions that it knows, whether it was
imported before the simulation began or while it runs.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import handle_torch_function, has_torch_function_unary

from .marks import PLAIN_TENSORS, function_modes


class WrongArgumentsError(Exception):
    """Raised by an implementation for arguments that torch refuses in words of its own."""


class Method:
    """A method of tensors, or a function of one."""

    def __init__(self, original: Any, implementation: Callable[..., Any]) -> None:
        self.__doc__, self.__qualname__ = original.__doc__, original.__qualname__
        self._original = original
        self._implementation = implementation

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Let an override answer, or else the simulation; torch itself where the arguments are wrong."""
        if args and _is_overridden(args[0]):
            return handle_torch_function(self, args[:1], *args, **kwargs)
        try:
            return self._implementation(*args, **kwargs)
        except WrongArgumentsError:
            pass
        except TypeError as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise  # by what the implementation called
        return self._original(*args, **kwargs)

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


class Attribute(property):
    """An attribute of tensors that is only read; its ``__get__`` is what the program's code gets to see."""

    def __init__(self, original: Any, implementation: Callable[[torch.Tensor], Any]) -> None:
        seen = Method(original.__get__, implementation)

        def get(tensor: torch.Tensor) -> Any:
            return (
                handle_torch_function(seen, (tensor,), tensor)
                if _is_overridden(tensor)
                else implementation(tensor)
            )

        super().__init__(get)
        vars(self).update({"__get__": seen, "__doc__": original.__doc__})


def _is_overridden(tensor: Any) -> bool:
    """Whether a class or a mode of the program wants to see what is done with a tensor."""
    return (type(tensor) not in PLAIN_TENSORS or function_modes() > 1) and has_torch_function_unary(tensor)

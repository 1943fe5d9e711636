"""Raises an exception of a signal handler inside a callback of ours in the program.

A signal that comes while a call blocks is handled in the next Python code of the main thread: the callback
at the end of the call. An exception cannot leave a callback: ctypes prints and drops it. So the callback keeps
the exception, and the interpreter raises it where it would have called the handler without us.
"""

from __future__ import annotations

import ctypes
import dis
import os
from functools import partial
from itertools import starmap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Any

_OURS = os.path.dirname(os.path.abspath(__file__))
_WITHOUT_CHECK = 2  # operand of RESUME for which the interpreter looks for no signals

_python = ctypes.PyDLL(None)
_set_object, _is_true, _add_pending_call = (
    _python.PyErr_SetObject,
    _python.PyObject_IsTrue,
    _python.Py_AddPendingCall,
)
_set_object.argtypes, _set_object.restype = [ctypes.py_object, ctypes.py_object], None
_add_pending_call.argtypes = [ctypes.c_void_p, ctypes.py_object]

_kept: list[tuple[type[BaseException], BaseException]] = []


class _Raises:
    """An object whose ``bool()`` raises the last stored exception.

    The object is all of C, so that no frame of ours is in the traceback.
    """

    __bool__ = staticmethod(starmap(_set_object, iter(_kept.pop, None)).__next__)


_raises = _Raises()


class _Again:
    """An object whose ``-again`` raises the stored exception at the next check for signals.

    The check runs before the next call, for none follows an operator.
    """

    __neg__ = staticmethod(partial(_add_pending_call, ctypes.cast(_is_true, ctypes.c_void_p), _raises))


again: Any = _Again()


def keep(error: BaseException) -> bool:
    """Keep an exception that code of the program raised inside ours, as a signal handler does; false for others.

    ``-again`` must then be the last operation of the callback.
    """
    found = outside(error.__traceback__)
    if found is None and isinstance(error, Exception):
        return False
    _kept.append((type(error), error.with_traceback(found)))
    return True


def outside(entry: TracebackType | None) -> TracebackType | None:
    """Return the part of a traceback that begins outside of the hook; None where there is none."""
    while entry is not None and os.path.dirname(entry.tb_frame.f_code.co_filename) == _OURS:
        entry = entry.tb_next
    return entry


def enters_unasked(function: Callable[..., None]) -> Callable[..., None]:
    """Let no signal handler run before the first statement of a function, which must be ``try``.

    Before Python 3.11 the interpreter looks for no signals there.
    """
    code: Any = function.__code__
    resume = dis.opmap.get("RESUME")
    instructions = bytearray(code.co_code)
    at = next((n for n in range(0, len(instructions), 2) if instructions[n] == resume), None)
    if at is not None:
        instructions[at + 1] = _WITHOUT_CHECK
        function.__code__ = code.replace(co_code=bytes(instructions))
    return function

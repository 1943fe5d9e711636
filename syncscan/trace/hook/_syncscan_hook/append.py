"""Appends to a file without ever standing in the way of the program's own descriptors.

A program may close every descriptor, or count on the number of the next, at any moment and in any thread.
So a file of ours is open only within one expression that is C from end to end: ``PyDLL`` keeps the
interpreter's lock, and without bytecode between the calls no other thread of Python gets it.
"""

from __future__ import annotations

import ctypes
import os
from itertools import tee

_libc = ctypes.PyDLL(None)
_open, _write, _close = _libc.open, _libc.write, _libc.close
_open.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_uint]
_write.argtypes, _write.restype = [ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t], ctypes.c_ssize_t

_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC
_CREATE = os.O_CREAT | os.O_TRUNC


def append(path: str, data: bytes, create: bool = False) -> bool:
    """Append bytes to a file; false if not all of them were written. A failed open makes the rest fail too."""
    flags = _APPEND | _CREATE if create else _APPEND
    opened, again = tee(map(_open, [os.fsencode(path)], [flags], [0o644]))
    written, _ = next(zip(map(_write, opened, [data], [len(data)]), map(_close, again)))
    return bool(written == len(data))

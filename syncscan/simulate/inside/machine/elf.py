"""Shared libraries made without a compiler, whose functions call Python callbacks or return an error status.

The loader finds a loaded library by its own name (soname), for `dlopen` and for extension modules that link
to it. A library without a file on disk can thus replace one that is not installed.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import platform
import struct
from collections.abc import Iterable, Mapping
from typing import Any

_PAGE = 0x10000  # the largest page size of both architectures
_STUB = 8  # bytes of code of one function
_HEADER, _PROGRAM_HEADER, _SYMBOL = 64, 56, 24
_LOAD, _DYNAMIC, _STACK = 1, 2, 0x6474E551
_READ, _RUN, _READ_WRITE = 4, 5, 6
_HASH, _STRINGS, _SYMBOLS, _STRINGS_SIZE, _SYMBOL_SIZE, _NAME = 4, 5, 6, 10, 11, 14
_FUNCTION, _OBJECT = 0x12, 0x11  # a global symbol of either type
_SLOTS = "syncscan_slots"
_spellings = itertools.count(1)  # the loader caches libraries by path, even if the file has changed


def load_library(name: str, failing: Iterable[str], status: int, answered: Mapping[str, Any]) -> Any:
    """Load a library with this name, with functions that return ``status`` and functions that call ctypes callbacks.

    Returns the objects that keep the library alive; None where the machine is of an unsupported architecture.
    """
    image = build(name, [*failing], status, [*answered])
    if image is None or not hasattr(os, "memfd_create"):
        return None
    descriptor = os.memfd_create(name)
    try:
        with open(descriptor, "wb", closefd=False) as file:
            file.write(image)
        library = ctypes.CDLL(f"/proc/self/fd/{'./' * next(_spellings)}{descriptor}")
    except OSError:  # the system forbids code without a file on disk
        return None
    finally:
        os.close(descriptor)
    slots = (ctypes.c_void_p * len(answered)).in_dll(library, _SLOTS)
    for index, callback in enumerate(answered.values()):
        slots[index] = ctypes.cast(callback, ctypes.c_void_p)
    return library, answered


def build(name: str, failing: list[str], status: int, answered: list[str]) -> bytes | None:
    """Return the bytes of the library, or None on an unsupported architecture.

    An answered function jumps to the address in its slot.
    """
    code = _CODE.get(platform.machine())
    if code is None:
        return None
    machine, fail, jump = code
    names = [*failing, *answered, _SLOTS]
    strings, offsets = _strings([name, *names])
    start = _HEADER + 4 * _PROGRAM_HEADER
    symbols_at = start
    hash_at = symbols_at + _SYMBOL * (len(names) + 1)
    strings_at = hash_at + 4 * (2 + 1 + len(names) + 1)
    code_at = _aligned(strings_at + len(strings), _STUB)
    code_end = code_at + _STUB * (1 + len(answered))
    dynamic_at = _aligned(code_end, _PAGE)
    slots_at = dynamic_at + 16 * 7
    end = slots_at + 8 * len(answered)

    text = fail(status)
    places = [code_at] * len(failing)
    for index in range(len(answered)):
        at = code_at + len(text)
        places.append(at)
        text += jump(slots_at + 8 * index - at)
    symbols = bytes(_SYMBOL)
    for symbol, at in zip(names[:-1], places):
        symbols += struct.pack("<IBBHQQ", offsets[symbol], _FUNCTION, 0, 1, at, _STUB)
    symbols += struct.pack("<IBBHQQ", offsets[_SLOTS], _OBJECT, 0, 2, slots_at, 8 * len(answered))
    dynamic = b"".join(
        struct.pack("<QQ", tag, value)
        for tag, value in [
            (_NAME, offsets[name]), (_HASH, hash_at), (_STRINGS, strings_at), (_SYMBOLS, symbols_at),
            (_STRINGS_SIZE, len(strings)), (_SYMBOL_SIZE, _SYMBOL), (0, 0),
        ]
    )  # fmt: skip
    headers = _file_header(machine) + b"".join(
        struct.pack("<IIQQQQQQ", kind, flags, at, at, at, size, size, align)
        for kind, flags, at, size, align in [
            (_LOAD, _RUN, 0, code_end, _PAGE),
            (_LOAD, _READ_WRITE, dynamic_at, end - dynamic_at, _PAGE),
            (_DYNAMIC, _READ, dynamic_at, len(dynamic), 8),
            (_STACK, _READ_WRITE, 0, 0, 16),
        ]
    )
    readable = headers + symbols + _hash_table(len(names)) + strings
    return (readable.ljust(code_at, b"\0") + text).ljust(dynamic_at, b"\0") + dynamic + bytes(end - slots_at)


def _aligned(at: int, to: int) -> int:
    return -(-at // to) * to


def _strings(names: list[str]) -> tuple[bytes, dict[str, int]]:
    """Return the string table, each name ended by a zero, and the offset of each name."""
    table, offsets = b"\0", {}
    for name in names:
        offsets[name] = len(table)
        table += name.encode() + b"\0"
    return table, offsets


def _hash_table(symbols: int) -> bytes:
    """Return a hash table of one bucket: each symbol is looked up once, so speed does not matter."""
    chain = [*range(2, symbols + 1), 0]
    return struct.pack(f"<{symbols + 4}I", 1, symbols + 1, 1, 0, *chain)


def _file_header(machine: int) -> bytes:
    return b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + struct.pack(
        "<HHIQQQIHHHHHH", 3, machine, 1, 0, _HEADER, 0, 0, _HEADER, _PROGRAM_HEADER, 4, 0, 0, 0
    )


def _fail_x86(status: int) -> bytes:
    return b"\xb8" + struct.pack("<I", status) + b"\xc3\xcc\xcc"  # mov eax, status; ret


def _jump_x86(offset: int) -> bytes:
    return b"\xff\x25" + struct.pack("<i", offset - 6) + b"\xcc\xcc"  # jmp [rip + offset]


def _fail_arm(status: int) -> bytes:
    return struct.pack("<II", 0x52800000 | status << 5, 0xD65F03C0)  # mov w0, status; ret


def _jump_arm(offset: int) -> bytes:
    return struct.pack("<II", 0x58000010 | (offset // 4) << 5, 0xD61F0200)  # ldr x16, [pc + offset]; br x16


_CODE = {"x86_64": (62, _fail_x86, _jump_x86), "aarch64": (183, _fail_arm, _jump_arm)}

"""Buffers for CUPTI's activity records, handed out and taken back by machine code.

CUPTI asks for a buffer and gives it back on whatever thread it likes, while it holds a lock of its own. A Python function
there would need the interpreter lock. A thread that is about to launch may hold that lock while it waits for
CUPTI's. So no Python runs there. The code is a few instructions for x86-64; elsewhere, or where no page may be made
executable, there are no buffers. Nothing is ever unmapped: CUPTI may call as long as the process lives.
"""

from __future__ import annotations

import ctypes
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

SIZE = 256 * 1024  # of a buffer; a kernel's record has some 200 bytes
MOST = 96  # buffers in the life of a process: each thread that launches has one at a time
# Bytes before each buffer: the last eight are 1 more than the bytes filled once it came back; the first 24 of all are the state.
_HEAD = 64
_READ, _WRITE, _EXECUTE = 1, 2, 4
_PRIVATE, _ANONYMOUS = 2, 0x20
_FAILED = ctypes.c_void_p(-1).value

# The state: the next buffer that is free, the end of all, the begin of all.
_REQUESTED = (
    "f3 0f 1e fa"  # endbr64
    "49 b8 {state}"  # mov r8, state
    "b8 {stride}"  # mov eax, stride
    "f0 49 0f c1 00"  # lock xadd [r8], rax
    "31 c9"  # xor ecx, ecx
    "48 89 0a"  # mov [rdx], rcx: as many records as there is room for
    "49 3b 40 08"  # cmp rax, [r8 + 8]
    "73 0b"  # jae none
    "48 89 07"  # mov [rdi], rax
    "48 c7 06 {size}"  # mov qword [rsi], size
    "c3"  # ret
    "48 89 0f"  # none: mov [rdi], rcx
    "48 89 0e"  # mov [rsi], rcx
    "c3"  # ret
)
_COMPLETED = (
    "f3 0f 1e fa"  # endbr64
    "49 b9 {state}"  # mov r9, state
    "49 3b 51 10"  # cmp rdx, [r9 + 16]
    "72 0e"  # jb out: it is not one of ours
    "49 3b 51 08"  # cmp rdx, [r9 + 8]
    "73 08"  # jae out
    "49 8d 40 01"  # lea rax, [r8 + 1]
    "48 89 42 f8"  # mov [rdx - 8], rax
    "c3"  # out: ret
)


class Buffers:
    """A fixed number of buffers, in memory that outlives this object.

    ``requested`` and ``completed`` are the addresses of the two functions that CUPTI calls. Raises OSError where the
    system gives no such memory, or the processor is another one.
    """

    def __init__(self) -> None:
        if os.uname().machine != "x86_64":
            raise OSError(f"the processor is {os.uname().machine}, and not x86-64")
        stride = _HEAD + SIZE
        memory = _map(MOST * stride)
        self._first, self._end = memory + _HEAD, memory + _HEAD + MOST * stride
        self._state = (ctypes.c_uint64 * 3).from_address(memory)
        self._state[:] = [self._first, self._end, self._first]
        values = {
            "state": memory.to_bytes(8, "little").hex(),
            "stride": stride.to_bytes(4, "little").hex(),
            "size": SIZE.to_bytes(4, "little").hex(),
        }
        code = [bytes.fromhex(text.format(**values)) for text in (_REQUESTED, _COMPLETED)]
        self.requested = _map(4096)
        self.completed = self.requested + 128
        for address, instructions in zip((self.requested, self.completed), code):
            ctypes.memmove(address, instructions, len(instructions))
        if _libc().mprotect(ctypes.c_void_p(self.requested), ctypes.c_size_t(4096), _READ | _EXECUTE):
            raise OSError(ctypes.get_errno(), "no memory may be made executable")
        self._unread = [self._first + number * stride for number in range(MOST)]

    @property
    def were_too_few(self) -> bool:
        """Return whether more were asked for than there are."""
        return self._state[0] > self._end

    @property
    def are_out(self) -> bool:
        """Return whether one was asked for and did not come back."""
        return any(not _came_back(address) for address in self._asked_for())

    def filled(self) -> Iterator[tuple[int, int]]:
        """Yield (address, bytes) of each buffer that came back since the last call."""
        for address in filter(_came_back, self._asked_for()):
            self._unread.remove(address)
            yield address, _came_back(address) - 1

    def _asked_for(self) -> list[int]:
        return [address for address in self._unread if address < self._state[0]]


def _came_back(address: int) -> int:
    return ctypes.c_uint64.from_address(address - 8).value


def _map(size: int) -> int:
    """Return the address of zeroed memory, which takes no room before a write."""
    function = _libc().mmap
    function.restype = ctypes.c_void_p
    function.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    address = function(None, size, _READ | _WRITE, _PRIVATE | _ANONYMOUS, -1, 0)
    if address is None or address == _FAILED:
        raise OSError(ctypes.get_errno(), "no memory for buffers")
    return int(address)


def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)

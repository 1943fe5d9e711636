"""The memory of this process as words, by address: what CUPTI hands to a callback lies there."""

from __future__ import annotations

import ctypes

# An index into an array takes a third of the time of a ctypes object made for each address.
WORDS = (ctypes.c_uint64 * (1 << 59)).from_address(0)  # of the word at ``address``: ``WORDS[address >> 3]``
HALVES = (ctypes.c_uint32 * (1 << 60)).from_address(0)

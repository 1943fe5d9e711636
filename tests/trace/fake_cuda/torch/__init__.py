"""Stands in for a CUDA build of torch: its operations make the CUDA calls that torch was seen to make.

They are foreign functions, so that no Python frame lies between the program and CUDA, as in torch.
"""

import ctypes
import functools
import os
import types

_library = ctypes.PyDLL(os.environ["FAKE_CUDA_LIBRARY"])
_library.fake_item.restype = ctypes.c_double
_library.fake_item.argtypes = [ctypes.c_double]
for _name in ("fake_tolist", "fake_upload", "fake_kernel", "fake_synchronize", "fake_set_debug_mode"):
    getattr(_library, _name).restype = None
_library.fake_upload.argtypes = [ctypes.c_int, ctypes.c_long, ctypes.c_int]

_C = types.SimpleNamespace(
    _cuda_set_sync_debug_mode=_library.fake_set_debug_mode,
    _cuda_get_sync_debug_mode=_library.fake_get_debug_mode,
    _current_autograd_node=lambda: None,
)

import torch.cuda as cuda  # noqa: E402, PLR0402 (it needs _C)

__version__ = "2.11.0+fake"
version = types.SimpleNamespace(cuda="13.0")
compiler = types.SimpleNamespace(is_compiling=lambda: False)


class Tensor:
    """A tensor of one number on the GPU."""

    is_cuda, is_cpu, dtype = True, False, "float32"

    def __init__(self, value=0.0):
        cuda._lazy_init()
        self.item = functools.partial(_library.fake_item, value)
        self.tolist = _library.fake_tolist
        self.upload = _library.fake_upload  # (pinned, bytes, non_blocking)
        self.add = _library.fake_kernel


def zeros(*_size, device=None):
    """A tensor on the GPU."""
    return Tensor(0.0)

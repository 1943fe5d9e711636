"""The part of torch.cuda that the hook and the tests need."""

import sys

_queued = []
_initialized = False


def is_available():
    """There is a GPU, it says."""
    return True


def is_initialized():
    """Whether CUDA has started."""
    return _initialized


def _lazy_call(function):
    if _initialized:
        function()
    else:
        _queued.append(function)


def _lazy_init():
    global _initialized  # noqa: PLW0603
    if not _initialized:
        _initialized = True
        for function in _queued:
            function()


def synchronize():
    """Wait for the device."""
    _lazy_init()
    sys.modules["torch"]._library.fake_synchronize()


def set_sync_debug_mode(mode):
    """As torch does it."""
    _lazy_init()
    sys.modules["torch"]._C._cuda_set_sync_debug_mode({"default": 0, "warn": 1, "error": 2}.get(mode, mode))


def get_sync_debug_mode():
    """As torch does it."""
    return sys.modules["torch"]._C._cuda_get_sync_debug_mode()

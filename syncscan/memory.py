"""Memory while much is read: it is kept, and nothing of it is garbage."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def steady_memory() -> Iterator[None]:
    """Without the cyclic collector: what is kept is one big graph, which it would walk again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()

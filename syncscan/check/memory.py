"""Memory while a project is read: much is kept, and nothing of it is garbage."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def steady_memory() -> Iterator[None]:
    """Without the cyclic collector: a project is one big graph, and it would walk that again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()

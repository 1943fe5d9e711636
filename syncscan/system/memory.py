"""Memory during a large analysis, which creates no garbage."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def steady_memory() -> Iterator[None]:
    """Stop the cyclic collector: the collector would walk one big graph without garbage again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def free_recent() -> None:
    """Free what has come since this was called last and is of no use any more; what stays is not walked again."""
    gc.collect()
    gc.freeze()


def free_all() -> None:
    """Free all that is of no use any more: everything is walked for that, which takes a second for a large project."""
    gc.unfreeze()
    gc.collect()

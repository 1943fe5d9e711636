"""Evaluates an expression in both forms, before and after a fix, and writes down whether the two come to the same.

`benchmarks.each_fix` puts calls of `value` and `store` into a copy of a project. Each test that reaches a call leaves one line:
the number of the fix, the test, the device of the result, and the difference.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

_seen: set[tuple[int, str, str]] = set()


def value(number: int, before: Callable[[], Any], after: Callable[[], Any]) -> Any:
    """Return the value of the form before the fix, or raise its error, after both forms ran with the same random numbers."""
    state = torch.get_rng_state()
    made, error = _outcome(before)
    torch.set_rng_state(state)
    other, other_error = _outcome(after)
    _write(number, made, _difference(_described(made, error), _described(other, other_error)))
    if error is not None:
        raise error
    return made


def stored(number: int, held: torch.Tensor, before: Callable[[], Any], after: Callable[[], Any]) -> None:
    """Run both forms of a store into a tensor, from the same content; the tensor holds that of the form before the fix."""
    start = held.detach().clone()
    _, error = _outcome(before)
    made = held.detach().clone()
    with torch.no_grad():
        held.copy_(start)
    _, other_error = _outcome(after)
    _write(number, made, _difference(_described(made, error), _described(held.detach(), other_error)))
    with torch.no_grad():
        held.copy_(made)
    if error is not None:
        raise error


def _outcome(form: Callable[[], Any]) -> tuple[Any, Exception | None]:
    try:
        return form(), None
    except Exception as error:
        return None, error


def _described(made: Any, error: Exception | None) -> tuple[object, ...]:
    if error is not None:
        return (type(error).__name__,)
    if not isinstance(made, torch.Tensor):
        return (repr(made),)
    content = made.detach().cpu()
    plain = content.float() if content.is_floating_point() and content.element_size() < 2 else content
    bits = np.asarray(plain.float() if plain.dtype is torch.bfloat16 else plain.resolve_conj()).tobytes()
    return bits, made.shape, made.stride(), made.dtype, str(made.device), made.requires_grad, made.is_leaf


def _difference(before: tuple[object, ...], after: tuple[object, ...]) -> str:
    return "" if before == after else f"{before[1:] or before} before, {after[1:] or after} after"


def _write(number: int, made: Any, difference: str) -> None:
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    device = made.device.type if isinstance(made, torch.Tensor) else "none"
    if (number, test, device + difference) in _seen:
        return
    _seen.add((number, test, device + difference))
    with open(os.environ["BOTH_FORMS"], "a", encoding="utf-8") as file:  # noqa: PTH123 (one append a line, by any process)
        file.write(f"{number}\t{test}\t{device}\t{difference}\n")

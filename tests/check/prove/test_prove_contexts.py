"""The names behind a ``with`` whose context may swallow an exception have the values of every point of its body."""

from __future__ import annotations

import pytest

from tests.check.prove.proving import proved

PROGRAM = """
import contextlib, threading
from contextlib import asynccontextmanager, contextmanager
class Own:
    def __enter__(self) -> None: ...
    def __exit__(self, *error: object) -> bool:
        RESULT
class Plain:
    def __enter__(self) -> None: ...
    def __exit__(self, kind, error, trace):
        print("left")
@contextmanager
def made(x: int):
    BODY
def step(x: torch.Tensor) -> int:
    with CONTEXT:
        assert x.is_cpu
    return x.item()
def pick(x: torch.Tensor) -> range:
    n = x
    with CONTEXT:
        print(n.shape)
        n = 1
    return range(n)
"""
SWALLOWING = {
    "suppress": "contextlib.suppress(AssertionError)",
    "one-of-two": "torch.no_grad(), contextlib.suppress(AssertionError)",
    "returns-true": "Own()",
    "generator": "made(1)",
}
PASSING = {
    "torch": "torch.no_grad()",
    "file": "open('a')",
    "lock": "threading.Lock()",
    "no-exception": "contextlib.nullcontext()",
    "returns-nothing": "Plain()",
    "returns-false": "Own()",
    "generator": "made(1)",
}
HANDLES = "try: yield\n    except ValueError: pass"
PASSES_ON = "try: yield\n    except ValueError:\n        print(x)\n        raise\n    finally: print(1)"


@pytest.mark.parametrize("entry", ["step", "pick"])
@pytest.mark.parametrize("context", SWALLOWING.values(), ids=SWALLOWING)
@pytest.mark.parametrize(
    "body",
    [
        HANDLES,
        "try: yield\n    finally: return",
        "with contextlib.suppress(ValueError): yield",
        "yield from open('a')",
        "try: yield\n    except ValueError:\n        if x: return\n        raise",
    ],
)
def test_a_context_that_may_swallow_exceptions_leaves_the_values_of_its_body(
    entry: str, context: str, body: str
) -> None:
    program = PROGRAM.replace("CONTEXT", context).replace("BODY", body).replace("RESULT", "return True")
    assert not proved(program, entry=entry).is_proved


@pytest.mark.parametrize("entry", ["step", "pick"])
@pytest.mark.parametrize("context", PASSING.values(), ids=PASSING)
@pytest.mark.parametrize("body", [PASSES_ON, "yield", "with torch.no_grad(): yield"])
def test_a_context_that_passes_exceptions_on_has_the_values_of_the_end(
    entry: str, context: str, body: str
) -> None:
    program = PROGRAM.replace("CONTEXT", context).replace("BODY", body).replace("RESULT", "return False")
    assert proved(program, entry=entry).is_proved

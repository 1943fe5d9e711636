"""The trial of a fix: the statement and what the fix makes of it, run on the same operands in the same world."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from syncscan.check.fix import apply_edits, fixable
from syncscan.simulate.context import simulated_cuda
from tests.rules.outcomes import alike, described
from tests.rules.tried.templates import Case
from tests.texts import check_texts

HEAD = "import numpy as np\nimport torch\nD = torch.device('cuda')\nE = 'cuda' if torch.cuda.is_available() else 'cpu'\n"


@dataclass(frozen=True)
class Fixed:
    """A case that a fix changes: its function before and after."""

    case: Case
    before: str
    after: str
    is_safe: bool


def fixed(cases: Sequence[Case]) -> list[Fixed]:
    """The cases that the check offers a fix for, and what it makes of them."""
    functions = [case.function(f"case_{number}") for number, case in enumerate(cases)]
    text = HEAD + "".join(functions)
    result = check_texts(text)
    assert not result.failed, result.failed
    after = apply_edits(text, fixable(result.findings, unsafe=True)).removeprefix(HEAD)
    safe = apply_edits(text, fixable(result.findings, unsafe=False)).removeprefix(HEAD)
    rows = zip(cases, functions, _split(after, functions), _split(safe, functions), strict=True)
    return [
        Fixed(case, old, new, old != kept)
        for case, old, new, kept in (
            (case, _own(old), _own(new), _own(kept)) for case, old, new, kept in rows
        )
        if old != new
    ]


def _own(function: str) -> str:
    """A function without its caller."""
    return function.partition("def calls_")[0]


def _split(text: str, functions: Sequence[str]) -> Iterator[str]:
    lines = text.splitlines(keepends=True)
    for function in functions:
        count = function.count("\n")
        yield "".join(lines[:count])
        del lines[:count]


def on_the_host(pairs: Iterable[Fixed]) -> Iterator[tuple[Fixed, str]]:
    """Compare the two where the caller asks for the CPU and there is no CUDA; "" for each that is right, and else what went wrong."""
    for pair in pairs:
        used = " ".join((pair.case.body, *pair.case.operands))
        if pair.case.follows_a_device and "cuda" not in used and "pin" not in used:
            yield pair, _compare(pair, "cpu", lambda _: None)


def in_host_memory(pairs: Iterable[Fixed]) -> Iterator[tuple[Fixed, str]]:
    """Compare the two on tensors of the CPU in place of those of the GPU; host memory is not pinned there."""
    for pair in pairs:
        if "pin_memory" not in pair.after:
            operands = tuple(each.replace("'cuda'", "'cpu'") for each in pair.case.operands)
            texts = (each.replace("'cuda'", "device") for each in (pair.before, pair.after))
            moved = Fixed(replace(pair.case, operands=operands), *texts, is_safe=pair.is_safe)
            yield pair, _compare(moved, "cpu", lambda _: None)


def simulated(pairs: Iterable[Fixed]) -> Iterator[tuple[Fixed, str]]:
    """Compare the two on a simulated GPU, where the fixed form must not block."""
    with simulated_cuda() as seen:

        def blocked(name: str) -> str | None:
            waits = [sync.api for sync in seen if sync.path == "<after>" and sync.function == name]
            return waits[0] if waits else None

        for pair in pairs:
            seen.clear()
            yield pair, _compare(pair, "cuda", blocked)


def on_a_gpu(pairs: Iterable[Fixed]) -> Iterator[tuple[Fixed, str]]:
    """Compare the two on a GPU; torch raises an error where the fixed form synchronizes."""
    for pair in pairs:
        yield pair, _compare(pair, "cuda", lambda _: None, _forbidding)


@contextmanager
def _forbidding() -> Iterator[None]:
    torch.cuda.set_sync_debug_mode("error")
    try:
        yield
    finally:
        torch.cuda.set_sync_debug_mode("default")
        torch.cuda.synchronize()


@contextmanager
def _as_it_is() -> Iterator[None]:
    yield


def _compare(
    pair: Fixed, device: str, blocked: Callable[[str], str | None], around: Callable[[], Any] = _as_it_is
) -> str:
    name = pair.before.split("(")[0].removeprefix("def ")
    expected = _outcome(pair.case, pair.before, "<before>", name, device, _as_it_is)
    found = _outcome(pair.case, pair.after, "<after>", name, device, around)
    told = (
        f"{pair.case.kinds} {pair.case.operands} on {device}: {_body(pair.before)}  ->  {_body(pair.after)}"
    )
    if not alike(expected, found):
        return f"{told}: {expected} before, {found} after"
    if len(found) > 1 and (wait := blocked(name)):
        return f"{told}: blocks in {wait}"
    return ""


def _body(function: str) -> str:
    return function.splitlines()[1].strip()


def _outcome(
    case: Case, text: str, path: str, name: str, device: str, around: Callable[[], Any]
) -> tuple[object, ...]:
    """What the function makes: value, dtype, layout, place, gradient, and what is left of it when the operand changes."""
    names: dict[str, Any] = {"np": np, "torch": torch}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(HEAD + text, path, "exec"), names)
        operands = [eval(operand, names) for operand in case.operands]
        other = torch.ones(1, device=device)
        try:
            with around():
                made = names[name](*operands, device, other, torch.float32)
        except Exception as error:
            return (type(error),)
        first = described(made, content="empty" not in case.body)
        gradient = _gradient(made, operands)
        _overwrite(operands[0])
        return (*first, described(made, content="empty" not in case.body), *gradient)


def _gradient(made: torch.Tensor, operands: Sequence[Any]) -> tuple[object, ...]:
    if not made.requires_grad or made.is_leaf:
        return ()
    made.sum().abs().backward()
    return tuple(
        operand.grad.tolist()
        for operand in operands
        if isinstance(operand, torch.Tensor) and operand.is_leaf and operand.grad is not None
    )


def _overwrite(operand: Any) -> None:
    """Change what an operand holds, so that a result that shares its memory shows it."""
    try:
        if isinstance(operand, torch.Tensor):
            operand.detach().fill_(1)
        elif isinstance(operand, (np.ndarray, list)):
            operand[...] = 1
    except (TypeError, ValueError, RuntimeError):
        pass  # it is read-only, or no single value fits it

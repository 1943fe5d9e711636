"""The functions that run per step because other functions call them, and those that run in some steps only."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from enum import IntEnum
from itertools import islice

from syncscan.check.frequency.calls import Called, called_name
from syncscan.check.frequency.lines import Frequencies, made_by
from syncscan.check.infer.source.index import Virtual
from syncscan.model import When

Call = tuple[Called, Called | None]  # with its caller


class _Turn(IntEnum):
    """When calls are followed: a function belongs to the first turn that reaches it."""

    USUAL = 0
    WITH_MEDIA = 1  # only for inputs with images, videos or sound
    OPTIONAL = 2  # behind an option that is off by default
    EVALUATION = 3


_Queues = Mapping[_Turn, deque[Call]]


def follow(found: Frequencies, roots: Iterable[Called], evaluated: Iterable[Called]) -> None:
    """Record the functions that run per step: each in the first turn that reaches it, with the shortest call chain of that turn."""
    queues: _Queues = {turn: deque() for turn in _Turn}
    queues[_Turn.USUAL].extend((root, None) for root in roots)
    for turn, queue in queues.items():
        if turn is _Turn.EVALUATION:
            queue.extend((root, None) for root in evaluated)
        known = len(found.step)
        _reach(found, turn, queues)
        _note_turn(found, turn, [*islice(found.step.items(), known, None)])


def _note_turn(found: Frequencies, turn: _Turn, reached: Iterable[Call]) -> None:
    if turn is _Turn.WITH_MEDIA:
        found.media.update(called for called, _ in reached)
    elif turn is _Turn.EVALUATION:
        found.evaluation.update(called for called, _ in reached)
    elif turn is _Turn.OPTIONAL:
        for called, by in reached:
            option = (
                found.optional.get(by) or found.options_of_calls(by).get(called_name(called)) if by else ""
            )
            if option:
                found.optional[called] = option


def _reach(found: Frequencies, turn: _Turn, queues: _Queues) -> None:
    """Record the functions that the calls of a turn reach; calls of later turns wait in their queues."""
    queue = queues[turn]
    while queue:
        called, by = queue.popleft()
        if called in found.step:
            continue
        if turn < _Turn.EVALUATION and called in found.evaluation:
            queues[_Turn.EVALUATION].append((called, by))
            continue
        found.step[called] = by
        for caller in (called, *_note_made(found, called)):
            guarded = [] if isinstance(caller, Virtual) else found.called_at(caller, When.ONCE)
            later = _later_names(found, caller, turn)
            for callee in found.from_(caller):
                is_left_out = callee in found.step or callee in guarded
                if not is_left_out and not found.is_passed_over(callee) and not found.generates(callee):
                    queues[later.get(called_name(callee), turn)].append((callee, caller))


def _later_names(found: Frequencies, caller: Called, turn: _Turn) -> dict[str, _Turn]:
    """Return the names of what a function calls in later turns than this one."""
    later: dict[str, _Turn] = {}
    if turn < _Turn.WITH_MEDIA:
        later |= dict.fromkeys(found.calls_with_media(caller), _Turn.WITH_MEDIA)
    if turn < _Turn.OPTIONAL:
        later |= dict.fromkeys(found.options_of_calls(caller), _Turn.OPTIONAL)
    return later


def _note_made(found: Frequencies, called: Called) -> list[Called]:
    """Record that the class of a constructor is instantiated per step; return the methods of the class that are recorded already."""
    cls = made_by(called)
    if cls is None or cls in found.made:
        return []
    found.made.add(cls)
    return [method for method in cls.methods.values() if method in found.step]

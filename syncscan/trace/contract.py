"""The output contract: what ``trace.json`` holds; docs/trace-format.md describes each field."""

from __future__ import annotations

from typing import Any

from syncscan.trace.shape import (
    Later,
    Shape,
    anything,
    boolean,
    integer,
    list_of,
    map_of,
    number,
    optional,
    record,
    row,
    text,
)
from syncscan.trace.store import CALLEE, CALLER, CHECKED, HISTOGRAM

FORMAT_VERSION = 1

_HOOKED = record(
    pid=integer,
    ppid=integer,
    rank=optional(integer),
    hooked=boolean,
    argv=list_of(text),
    torch=optional(text),
    cuda=optional(text),
    detectors=list_of(text),
    notes=list_of(text),
    steps=integer,
    wall_ns=integer,
)
_UNHOOKED = record(pid=integer, hooked=boolean, argv=list_of(text), why=text)


def _process(value: Any) -> Any:
    hooked = not isinstance(value, dict) or value.get("hooked") is not False
    return (_HOOKED if hooked else _UNHOOKED)(value)


_SITE = record(
    path=text,
    line=integer,
    column=optional(integer),
    end_line=optional(integer),
    end_column=optional(integer),
    function=text,
    expression=text,
    code=optional(text),
    name=optional(text),
    instead=optional(text),
    api=text,
    count=integer,
    blocked_ns=record(total=integer, max=integer, p50=integer, p99=integer, histogram=Later(HISTOGRAM, {})),
    starved_ns=Later(optional(record(total=integer, measured=integer)), None),
    per_step=optional(number),
    step_spread=Later(optional(record(syncs=number, blocked_ns=number)), None),
    phase=text,
    in_step=boolean,
    allowed=optional(text),
    backward_of=optional(text),
    breaks_graph=Later(boolean, False),
    uncomputed=Later(boolean, False),
    detectors=list_of(text),
    missed_by=list_of(text),
    threads=map_of(integer),
    ranks=map_of(integer),
    rank_ns=Later(map_of(integer), {}),
    stacks=list_of(record(count=integer, frames=list_of(text))),
)
_LINE = record(path=text, line=integer, expression=text, value=number)

_TIMELINE = record(
    pid=integer,
    rank=optional(integer),
    steps=list_of(row(text, text, integer, integer, integer, integer)),
    waits=list_of(row(integer, text, integer, integer)),
)

OF_EVERY_VERSION = record(version=integer, sites=list_of(anything), processes=list_of(anything))
TRACE: Shape = record(
    version=integer,
    tool=record(name=text, version=text),
    command=list_of(text),
    exit_status=integer,
    wall_ns=integer,
    steps=optional(record(target=text, warmup=integer, started=integer, steady=integer, wall_ns=integer)),
    starved_check=Later(optional(CHECKED), None),
    proposed_step=Later(optional(record(target=text, waits=integer, path=text, line=integer)), None),
    worst_step=map_of(record(value=number, rank=optional(integer), lines=list_of(_LINE))),
    processes=list_of(_process),
    sites=list_of(_SITE),
    timeline=Later(list_of(_TIMELINE), []),
    uncomputed=Later(map_of(integer), {}),
    decided=Later(map_of(integer), {}),
    lines=Later(optional(map_of(list_of(row(integer, integer)))), None),
    callees=Later(map_of(list_of(CALLEE)), {}),
    callers=Later(map_of(list_of(CALLER)), {}),
)

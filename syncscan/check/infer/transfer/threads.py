"""Functions that run others in threads, processes, pools and event loops: they hand arguments and results on.

A coroutine stands for its result, as ``await`` leaves it. A future of a pool holds its result; what a task holds is not followed.
"""

from __future__ import annotations

from collections.abc import Sequence

from syncscan.check.infer.domain.basic import element_of, iterated, list_of, sequence
from syncscan.check.infer.domain.lattice import join_all
from syncscan.check.infer.domain.value import BOTTOM, AbstractValue
from syncscan.check.infer.transfer.call import Call
from syncscan.check.infer.transfer.point import Point
from syncscan.check.infer.transfer.registry import FUNCTIONS, register
from syncscan.model import Kind

_POOLS = ("ThreadPoolExecutor", "ProcessPoolExecutor", "Executor")
_LOOP, FUTURE = "asyncio.AbstractEventLoop", "concurrent.futures.Future"


def _run(at: Point, function: AbstractValue, args: Sequence[AbstractValue], call: Call) -> AbstractValue:
    """Return the result of a function that runs with some of the arguments of a call."""
    is_open_ended = call.is_open_ended and bool(args)
    return at.call(function, Call(args, {}, call.site, is_open_ended=is_open_ended))


@register(FUNCTIONS, "asyncio.gather")
def _gathered(at: Point, call: Call) -> AbstractValue:
    return list_of(join_all(call.args)) if call.is_open_ended else sequence([*call.args], Kind.LIST)


@register(
    FUNCTIONS,
    *(f"asyncio.{name}" for name in ("run", "wait_for")),
    f"{_LOOP}.run_until_complete",
)
def _awaited(at: Point, call: Call) -> AbstractValue:
    return call.first


@register(FUNCTIONS, "asyncio.to_thread")
def _in_a_thread(at: Point, call: Call) -> AbstractValue:
    is_open_ended = call.is_open_ended and len(call.args) > 1
    return at.call(call.first, Call(call.args[1:], call.kwargs, call.site, is_open_ended=is_open_ended))


@register(
    FUNCTIONS,
    "threading.Thread",
    "multiprocessing.Process",
    "multiprocessing.context.Process",
    "torch.multiprocessing.Process",
)
def _thread(at: Point, call: Call) -> AbstractValue:
    args, target = call.given(3, "args"), call.given(1, "target")
    for option in args.options or (args,):
        known = option.items if option.kind in {Kind.TUPLE, Kind.LIST} else ()
        given = (element_of(option),) if known is None else known
        at.call(target, Call(given, {}, call.site, is_open_ended=known is None))
    return BOTTOM


@register(
    FUNCTIONS, *(f"asyncio.{name}" for name in ("get_event_loop", "get_running_loop", "new_event_loop"))
)
def _loop(at: Point, call: Call) -> AbstractValue:
    return AbstractValue(Kind.INSTANCE, payload=_LOOP)


@register(FUNCTIONS, f"{_LOOP}.run_in_executor")
def _in_the_loop(at: Point, call: Call) -> AbstractValue:
    return _run(at, call.args[1], call.args[2:], call) if len(call.args) > 1 else BOTTOM


@register(FUNCTIONS, *(f"concurrent.futures.{name}" for name in _POOLS))
def _pool(at: Point, call: Call) -> AbstractValue:
    return AbstractValue(Kind.INSTANCE, payload="concurrent.futures.Executor")


@register(FUNCTIONS, *(f"concurrent.futures.{name}.submit" for name in _POOLS))
def _submitted(at: Point, call: Call) -> AbstractValue:
    is_open_ended = call.is_open_ended and len(call.args) > 1
    result = at.call(call.first, Call(call.args[1:], call.kwargs, call.site, is_open_ended=is_open_ended))
    return AbstractValue(Kind.INSTANCE, payload=FUTURE, items=(BOTTOM if result.depth else result,))


@register(FUNCTIONS, *(f"concurrent.futures.{name}.map" for name in _POOLS))
def _mapped(at: Point, call: Call) -> AbstractValue:
    return list_of(_run(at, call.first, [iterated(each) for each in call.args[1:]], call))

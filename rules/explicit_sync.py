"""`synchronize` blocks the CPU until the device, a stream or an event has finished: that is its purpose.

In a step the call undoes every other improvement: the queue runs empty, and the GPU idles until new work arrives. It is
often left over from timing or debugging.

**Stays silent** on `event.record()`, `event.query()`, `event.wait()`, `stream.wait_event(event)` and
`stream.wait_stream(other)`: those order work on the GPU, or ask, without blocking. Collectives of
`torch.distributed` have a rule of their own (SYN402).

**No rewrite.** Order streams with events on the GPU. If the host must know, record an event where the work
is queued and synchronize that event alone, as late as possible. Time with events, or under a profiler.
"""

import ast

from syncscan.ops import Effect
from syncscan.rule import Example, Facts, Match, Rule

from ._parts import calls_in, last_name, line_of
from ._shared import blocking_call, shown
from ._suggestions import suggest

_WORK = {"Event": "all work queued before the event", "Stream": "all work queued on the stream"}


class ExplicitSync(Rule):
    code = "SYN401"
    name = "explicit-sync"
    summary = "an explicit synchronization with the device, a stream or an event"
    instead = (
        "order streams with events; if the host must synchronize, synchronize one event, as late as possible"
    )
    nodes = (ast.Call,)
    examples = (
        Example(
            bad="""\
import torch

torch.cuda.synchronize()  # expect: SYN401
torch.cuda.current_stream().synchronize()  # expect: SYN401
done = torch.cuda.Event()
done.record()
done.synchronize()  # expect: SYN401
"""
        ),
        Example(
            good="""\
import torch

side = torch.cuda.Stream()
done = torch.cuda.Event()
done.record()
side.wait_event(done)
side.wait_stream(torch.cuda.current_stream())
finished = done.query()
"""
        ),
    )

    def match(self, node: ast.AST, facts: Facts) -> Match | None:
        call = blocking_call(node, facts, Effect.WAIT) or blocking_call(node, facts, Effect.ALWAYS)
        if call is None or facts.name_of(call.func).startswith("torch.distributed."):
            return None
        owner = facts.name_of(call.func).rpartition(".")[0]
        waited = _WORK.get(owner.rpartition(".")[2], "the whole device")
        message = f"{shown(call, facts)} blocks the CPU until {waited} has finished"
        return Match(call, message, hint=_hint(call, facts))


def _hint(call: ast.Call, facts: Facts) -> str:
    """Return the suggestion for a synchronization that serves to take the time; "" for others."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    function = next((each for each in facts.around(call).up(call) if isinstance(each, functions)), None)
    called = {last_name(each.func) for each in calls_in(function)}
    event = line_of(call.func.value, facts) if isinstance(call.func, ast.Attribute) else ""
    is_timing = "elapsed_time" in called and event and facts.name_of(call.func).endswith("Event.synchronize")
    return suggest("timing", event=event) if is_timing else ""

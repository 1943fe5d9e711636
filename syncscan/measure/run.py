"""The child process that measures: units in on stdin, records out on stdout, one JSON line each.

A CUDA error that poisons the process ends it; the parent notes the case and goes on in a fresh one.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import TextIO

from syncscan.measure import handwritten, opinfo
from syncscan.measure.probe import Probe, identify, measure
from syncscan.measure.watch import BusyGpu, CallMeter

POISONED = 3  # exit status after a CUDA error that the process does not survive


def probes_of(unit: str, device: str) -> Iterator[Probe]:
    """Yield the calls of a unit: "op_db NAME", or "cases NAME" of an operation or a process in cases.toml."""
    source, _, name = unit.partition(" ")
    if source == "op_db":
        yield from opinfo.probes(name, device)
        return
    for sheet in handwritten.sheets().values():
        if name in {sheet.op, sheet.process}:
            yield from handwritten.probes(sheet, device)


def serve(requests: TextIO, answers: TextIO, watch: CallMeter, device: str) -> None:
    """Measure each requested unit from its nth call on, answering before and after every call."""
    for line in requests:
        request = json.loads(line)
        _answer(answers, {"unit": request["unit"]})
        try:
            _serve_unit(request["unit"], request["skip"], answers, watch, device)
        except Exception as error:
            text = str(error).strip().split("\n")[0][:160]
            _answer(answers, {"left out": f"{type(error).__name__}: {text}"})
        _answer(answers, {"done": request["unit"]})


def _serve_unit(unit: str, skip: int, answers: TextIO, watch: CallMeter, device: str) -> None:
    for number, probe in enumerate(probes_of(unit, device)):
        if number < skip:
            continue
        _answer(answers, {"started": identify(probe)})
        record = measure(probe, watch)
        _answer(answers, {"record": record})
        if "error" in record:
            _leave_if_poisoned(watch)


def _leave_if_poisoned(watch: CallMeter) -> None:
    try:
        watch.settle()
    except Exception:
        sys.stdout.flush()
        os._exit(POISONED)


def _answer(answers: TextIO, message: object) -> None:
    answers.write(json.dumps(message) + "\n")
    answers.flush()


def main() -> None:
    """Serve the parent on the GPU; what cases print goes to stderr, away from the answers."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    import torch  # noqa: PLC0415

    torch.set_num_threads(2)  # the children share the cores
    watch = BusyGpu()
    _answer(answers, {"ready": True})
    serve(sys.stdin, answers, watch, "cuda")


if __name__ == "__main__":
    main()

"""Loaders of batches, and the batches: tensors on the host, or containers of them, of unknown structure.

A batch is an unresolved transfer (`Kind.MOVED`) to the host. A framework that prepares a loader moves the batches itself:
to the GPU, or anywhere.
"""

from __future__ import annotations

import functools
import re

from syncscan.check.infer.domain.basic import LOADER, STRING, element_of, is_batch, list_of, sequence
from syncscan.check.infer.domain.lattice import as_tensor
from syncscan.check.infer.domain.value import BOTTOM, AbstractValue, refine
from syncscan.check.infer.ir.instructions import CallSite
from syncscan.check.infer.transfer.call import Call
from syncscan.check.infer.transfer.point import Point
from syncscan.model import Confidence, Device, Kind

# As in `accelerator.prepare`, `fabric.setup_dataloaders`, `deepspeed.initialize`.
_PREPARES = re.compile(r"(.*_)?(prepare|setup|initialize|distribute|shard)(_.*)?")
_MOVES = re.compile(r"prepare(_data_?loaders?)?|setup_data_?loaders?")  # `accelerator.prepare` to the GPU
_TAKES_LOADERS = frozenset(
    {"setup_dataloaders", "prepare_data_loader"}
)  # methods of Fabric and Accelerate, and nothing else
_OF_THE_PROJECT = frozenset({Kind.FUNCTION, Kind.CLASS})


def of_batch(at: Point, batch: AbstractValue, name: str, call: Call) -> AbstractValue | None:
    """Return the result of a method of a batch; None where the method is that of an unresolved transfer.

    A transfer to the GPU is recorded like one of a tensor.
    """
    if name in {"to", "cuda"}:
        at.call_method(as_tensor(batch), name, call)
    elif name == "items":
        return list_of(sequence([STRING, batch], Kind.TUPLE))
    elif name in {"keys", "values"}:
        return list_of(batch if name == "values" else STRING)
    return None


_ENCODED = AbstractValue(Kind.INSTANCE, Device.CPU, Confidence.INFERRED, payload="transformers.BatchEncoding")


def prepared(at: Point, callee: AbstractValue, name: str, call: Call) -> AbstractValue:
    """Return the loaders that a framework makes of loaders, each in its place among the results; BOTTOM for other calls."""
    if not _is_named_so(name):
        return _encoded(at, callee, call.site)
    is_own = any(map(_is_of_the_project, callee.options or (callee,)))
    place = Device.CUDA if _MOVES.fullmatch(name) else Device.OTHER
    is_method = call.site is not None and call.site.attribute == name
    if name in _TAKES_LOADERS and is_method and (callee is not BOTTOM or at.stays_open()):
        results = [refine(LOADER, device=place)] * len(call.args)
    else:
        results = [_moving(each, place) for each in call.args]
    if is_own or all(each is BOTTOM for each in results):
        return BOTTOM
    return results[0] if len(results) == 1 else sequence(results, Kind.TUPLE)


def _encoded(at: Point, callee: AbstractValue, site: CallSite | None) -> AbstractValue:
    """Return what a processor or a tokenizer of transformers encodes on the host: nothing else takes ``return_tensors``."""
    if site is None or "return_tensors" not in site.keywords:
        return BOTTOM
    is_known = any(map(_is_of_the_project, callee.options)) or (callee is BOTTOM and not at.stays_open())
    return BOTTOM if is_known or "device" in site.keywords else _ENCODED


def _is_of_the_project(value: AbstractValue) -> bool:
    is_object = value.kind is Kind.INSTANCE and not isinstance(value.payload, str)
    return value.kind in _OF_THE_PROJECT or is_object


@functools.lru_cache(maxsize=65536)
def _is_named_so(name: str) -> bool:
    return _PREPARES.fullmatch(name) is not None


def _moving(value: AbstractValue, place: Device) -> AbstractValue:
    """Return a loader that moves its batches to a place; BOTTOM for other values."""
    is_loader = value.kind is Kind.INSTANCE and is_batch(element_of(value))
    return refine(value, device=place) if is_loader else BOTTOM

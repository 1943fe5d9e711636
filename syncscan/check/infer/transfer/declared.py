"""Annotated values, in which modules of torch are on the GPU.

Nobody makes such a module in sight, so nothing keeps it on the host. The parameters of an unknown object are on the GPU, too.
"""

from __future__ import annotations

import ast

from syncscan.check.infer.domain.lattice import join_all, with_items
from syncscan.check.infer.domain.value import AbstractValue, refine
from syncscan.check.infer.source.index import Function, Module
from syncscan.check.infer.transfer.point import Point
from syncscan.model import Confidence, Device, Kind


def annotated(at: Point, node: ast.expr | None, module: Module, scope: Function | None) -> AbstractValue:
    """Return the value that an annotation in a module declares."""
    return with_layers_placed(at, at.context.annotations.read(node, module, scope))


def with_layers_placed(at: Point, promised: AbstractValue) -> AbstractValue:
    """Return an annotated value with its modules of torch on the GPU, in containers and unions, too."""
    if promised.kind is Kind.UNION:
        return join_all([with_layers_placed(at, option) for option in promised.items or ()])
    if promised.element is not None:
        return refine(promised, element=with_layers_placed(at, promised.element))
    if promised.kind in _SEQUENCES and promised.items is not None:
        return with_items(promised, [with_layers_placed(at, item) for item in promised.items])
    if not _is_layer(promised) or not at.assume():
        return promised
    return refine(promised, device=Device.CUDA, confidence=Confidence.INFERRED)


_SEQUENCES = frozenset({Kind.LIST, Kind.TUPLE})


def _is_layer(value: AbstractValue) -> bool:
    is_outside = value.kind is Kind.INSTANCE and isinstance(value.payload, str)
    return is_outside and value.payload.startswith("torch.nn.")

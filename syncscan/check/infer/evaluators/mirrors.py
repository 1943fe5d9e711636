"""Host arrays that are advanced beside the GPU tensor of which they are a mirror."""

from __future__ import annotations

import ast

from syncscan.check.infer.evaluate.frame import Frame
from syncscan.check.infer.source.index import Class
from syncscan.check.infer.source.mirrors import advances, mirrored
from syncscan.model import Kind, Value


def note_advanced(frame: Frame, target: ast.expr) -> None:
    """Note ``self.lens_cpu[rows] += n`` where ``self.lens`` is on the GPU and nothing else ever writes the mirror."""
    place = target.value if isinstance(target, ast.Subscript) else target
    if not isinstance(place, ast.Attribute) or not (name := mirrored(place.attr)):
        return
    array = frame.peek(place)
    if not (array.kind is Kind.NDARRAY or array.is_cpu_tensor) or advances(frame.function, name):
        return
    source = _on_gpu(frame, frame.peek(place.value), name, place)
    if source is None or frame.context.is_refreshed(place.attr, frame.function):
        return
    frame.outcome.may_block = True
    if frame.recorder is not None:
        frame.recorder.mirror(place, source)


def _on_gpu(frame: Frame, owner: Value, name: str, node: ast.expr) -> Value | None:
    """An attribute of an object of the project, or what it keeps as ``gpu``, if that is a tensor there."""
    with frame.unsure():
        for _ in range(2):
            if owner.kind is not Kind.INSTANCE or not isinstance(owner.payload, Class):
                return None
            found = frame.attribute(owner, name, node)
            if found.is_gpu:
                return found
            owner, name = found, "gpu"
    return None

"""Tuples, lists, sets and dictionaries as they are written, and comprehensions."""

from __future__ import annotations

import ast

from syncscan.check.infer.evaluate.frame import Frame
from syncscan.check.infer.evaluate.narrow import narrow
from syncscan.check.infer.evaluate.registry import EXPRESSIONS, register
from syncscan.check.infer.values.basic import EMPTY, iterated, list_of, put, sequence, updated
from syncscan.check.infer.values.lattice import join_all
from syncscan.model import UNKNOWN, Kind, Value


@register(EXPRESSIONS, ast.Tuple, ast.List)
def _sequence(frame: Frame, node: ast.Tuple | ast.List) -> Value:
    kind = Kind.TUPLE if isinstance(node, ast.Tuple) else Kind.LIST
    if any(isinstance(item, ast.Starred) for item in node.elts):
        return list_of(
            join_all(
                iterated(frame.evaluate(item.value))
                if isinstance(item, ast.Starred)
                else frame.evaluate(item)
                for item in node.elts
            ),
            kind,
        )
    if not node.elts:
        return list_of(UNKNOWN, kind) if kind is Kind.LIST else sequence([], kind)
    return sequence([frame.evaluate(item) for item in node.elts], kind)


@register(EXPRESSIONS, ast.Set)
def _set(frame: Frame, node: ast.Set) -> Value:
    return list_of(join_all([frame.evaluate(item) for item in node.elts]), Kind.SET)


@register(EXPRESSIONS, ast.Dict)
def _dict(frame: Frame, node: ast.Dict) -> Value:
    whole = EMPTY
    for key, item in zip(node.keys, node.values, strict=True):
        value = frame.evaluate(item)
        whole = updated(whole, value) if key is None else put(whole, frame.evaluate(key), value)
    return whole


@register(EXPRESSIONS, ast.ListComp, ast.SetComp, ast.GeneratorExp)
def _comprehension(frame: Frame, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
    start = frame.env.begin()
    _generators(frame, node.generators)
    element = frame.evaluate(node.elt)
    frame.env.undo(start)
    return list_of(element, Kind.SET if isinstance(node, ast.SetComp) else Kind.LIST)


@register(EXPRESSIONS, ast.DictComp)
def _dict_comp(frame: Frame, node: ast.DictComp) -> Value:
    start = frame.env.begin()
    _generators(frame, node.generators)
    frame.evaluate(node.key)
    element = frame.evaluate(node.value)
    frame.env.undo(start)
    return put(EMPTY, UNKNOWN, element)


def _generators(frame: Frame, generators: list[ast.comprehension]) -> None:
    for generator in generators:
        frame.assign(generator.target, iterated(frame.evaluate(generator.iter)))
        for test in generator.ifs:
            frame.note_truth(frame.evaluate(test))
            narrow(frame, test, holds=True)

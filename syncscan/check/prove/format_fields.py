"""The fields of a format, which read attributes and items: ``"{0.size}".format(x)``."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from itertools import count
from string import Formatter

from syncscan.check.infer.domain.basic import constant
from syncscan.check.infer.source.index import Class
from syncscan.check.prove.frame import Arguments, WalkFrame
from syncscan.check.prove.operators import subscript
from syncscan.check.prove.python import formats
from syncscan.check.prove.values import TOP, AbstractValue, options_of
from syncscan.model import Kind


def formats_fields(
    frame: WalkFrame, node: ast.AST, text: AbstractValue, args: Arguments, *, of_mapping: bool
) -> None:
    """Walk the making of a text by a format, and the reads of attributes and items by its fields; an unknown format may read any."""
    if not isinstance(text.payload, str):
        for value in args.values:
            formats(frame, node, value)
        if any(map(_has_properties, args.values)):
            frame.unknown(node, "a format that is not known may read any property")
        return
    places = count()
    for field in _fields(text.payload):
        name = _BEHIND_NAME.split(field, 1)[0]
        if of_mapping:
            value = subscript(frame, node, args.given(0, "mapping") or TOP, constant(name))
        else:
            value = _argument(args, name or str(next(places)))
        for attribute, key in _READS.findall(field):
            value = (
                frame.attribute(node, value, attribute)
                if attribute
                else subscript(frame, node, value, constant(int(key) if key.isdecimal() else key))
            )
        formats(frame, node, value)


_BEHIND_NAME = re.compile(r"[.\[]")
_READS = re.compile(r"\.([^.\[]+)|\[([^\]]*)\]")


def _argument(args: Arguments, name: str) -> AbstractValue:
    """Return the argument of a position or a name."""
    is_position = name.isdecimal()
    return args.given(int(name) if is_position else sys.maxsize, "" if is_position else name) or TOP


def _has_properties(value: AbstractValue) -> bool:
    return any(
        option.kind is Kind.UNKNOWN or (option.kind is Kind.INSTANCE and isinstance(option.payload, Class))
        for option in options_of(value)
    )


def _fields(text: str) -> Iterator[str]:
    """Yield the fields of a format, those inside the specifications of others behind them."""
    for _, field, specification, _ in Formatter().parse(text):
        if field is not None:
            yield field
            yield from _fields(specification or "")

"""The arguments of a call by the parameters of an entry of the operation table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")


# NumPy's names of parameters, which torch's own functions take too (torch 2.13).
_BY_NUMPY = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input", "x2": "other"}
_WITH_FACTOR = frozenset({("input", "other", "alpha"), ("input", "tensor1", "tensor2", "value")})


def by_parameter(
    parameters: Sequence[str], args: Sequence[T], kwargs: Mapping[str, T]
) -> tuple[dict[str, tuple[T, ...]], tuple[T, ...]]:
    """Return the arguments of a call by the parameters of an entry, and the arguments without a parameter.

    A starred parameter takes all positional arguments that are left. A factor such as ``alpha`` is a keyword; as a position
    torch takes it in deprecated overloads alone, before the tensors: ``x.add_(0.5, y)`` (torch 2.13).
    """
    bound: dict[str, tuple[T, ...]] = {}
    left = tuple(args)
    if len(left) == len(parameters) and tuple(parameters) in _WITH_FACTOR:
        left = (left[0], *left[2:], left[1])
    for name in parameters:
        if not left:
            break
        if name[0] == "*":
            bound[name[1:]], left = left, ()
        else:
            bound[name], left = left[:1], left[1:]
    for name, value in kwargs.items():
        ours = _BY_NUMPY.get(name, name)
        bound[ours if ours in parameters and name not in parameters else name] = (value,)
    return bound, left

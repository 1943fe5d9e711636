"""What a private function does for a text that none of its callers passes does not happen."""

from typing import Literal, Union

import torch


def _divide(a, b, zero: Union[float, Literal["warn", "nan"]] = 0.0):
    if zero == "warn" and torch.any(b == 0):  # silent: callers pass numbers and "nan"
        return a
    rows = 1 if zero == "nan" and b.any() else 0  # expect: SYN104
    return a.sum().item() if zero == "warn" else rows  # silent


def _mean(a, b, zero: Union[float, Literal["warn", "nan"]]):
    return _divide(a, b, zero)


def shown(a, b, zero: float = 0):
    return _divide(a, b, zero), _divide(a, b), _mean(a, b, zero="nan")


def _either(a, mode="sum"):
    return mode == "sum" and a.any() or a  # expect: SYN104


def _open(a, mode):
    return 1 if mode == "any" and a.any() else 2  # expect: SYN104


def _spread(a, mode="sum"):
    return 1 if mode == "any" and a.any() else 2  # expect: SYN104


def public(a, mode="sum"):
    return 1 if mode == "any" and a.any() else 2  # expect: SYN104


def _assigned(a, mode):
    mode = mode or "any"
    return 1 if mode == "any" and a.any() else 2  # expect: SYN104


def run(how, **more):
    t = torch.ones(3, device="cuda")
    shown(t, t)
    _either(t, "all")
    _open(t, "sum")
    _open(t, how)
    _spread(t, "sum")
    _spread(t, **more)
    public(t, "sum")
    return _assigned(t, "sum")

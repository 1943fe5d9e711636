"""A named tuple that a module makes of texts has them for good, so its fields are keys."""

from typing import NamedTuple

import torch


class _Keys(NamedTuple):
    GPU: str = "gpu"
    HOST: str = "host"


class _Loose(NamedTuple):
    GPU: str = "gpu"
    HOST: str = "host"


KEYS = _Keys()
OTHER = _Keys(GPU="x", HOST="y")
LOOSE = _Loose()
LOOSE = _Loose(HOST="gpu")


def make():
    return {KEYS.GPU: torch.ones(4, device="cuda"), KEYS.HOST: torch.ones(4)}


def read():
    table = make()
    table[KEYS.GPU].tolist()  # expect: SYN102
    table[KEYS.HOST].tolist()  # silent
    table["host"].tolist()  # silent
    table[OTHER.HOST].tolist()  # silent


def of_two_tuples():
    table = {"gpu": torch.ones(4, device="cuda"), "host": torch.ones(4)}
    table[LOOSE.HOST].tolist()  # expect: SYN102


def chosen(keys: _Keys):
    table = {"gpu": torch.ones(4, device="cuda"), "host": torch.ones(4)}
    table[keys.HOST].tolist()  # expect: SYN102

"""A member of an enumeration is the key that its text is: nobody can set it again. A text that a name has may be another."""

from enum import Enum

import torch


class Part(str, Enum):
    GPU = "gpu"
    HOST = "host"


class Text(str, Enum):
    pass


class Other(Text):
    GPU = "gpu"
    HOST = "host"


class Names:
    HOST = "host"


def of_an_enumeration():
    table = {Part.GPU: torch.ones(4, device="cuda"), Part.HOST: torch.ones(4)}
    table[Part.HOST].tolist()  # silent
    table[Other.HOST].tolist()  # silent
    table[Part.HOST.value].tolist()  # silent
    table["host"].tolist()  # silent
    table[Other.GPU.value].tolist()  # expect: SYN102
    return table[Part.GPU].tolist()  # expect: SYN102


def of_a_class(name):
    table = {"gpu": torch.ones(4, device="cuda"), "host": torch.ones(4)}
    Names.HOST = name
    return table[Names.HOST].tolist()  # expect: SYN102

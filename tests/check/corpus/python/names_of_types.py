"""A type under another name: an alias, a type variable, a type with dimensions."""

from typing import NewType, Optional, TypeVar, Union

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torchtyping import TensorType
from typing_extensions import TypeAlias

Floats: TypeAlias = torch.FloatTensor
Masks = torch.BoolTensor
Maybe = Optional[Floats]
Rows = list[Tensor]
Named = dict[str, Tensor]
Bound = TypeVar("Bound", bound=Tensor)
Loose = TypeVar("Loose")
Logits = NewType("Logits", Tensor)
Either = Union[Tensor, float]


def aliases(a: Floats, b: Masks, c: Rows, d: Named, e: Loose, f: Either):
    bool(a)  # expect: SYN103 (assumed)
    a[b]  # expect: SYN201 (inferred)
    bool(c[0])  # silent
    bool(d["rows"])  # silent
    bool(e)  # silent
    return bool(f)  # silent


def made(a: Bound, b: Logits):
    bool(a)  # expect: SYN103 (assumed)
    return bool(b)  # expect: SYN103 (assumed)


def shaped(
    rows: Float[Tensor, "n d"], kept: Bool[Tensor, "n"], index: Int[Tensor, "n"], more: TensorType["n"]
):
    rows[index]  # silent
    rows[kept]  # expect: SYN201 (inferred)
    return bool(more)  # expect: SYN103 (assumed)

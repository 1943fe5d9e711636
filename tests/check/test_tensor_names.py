"""The list of what tensors have is that of torch, so that a method of another name is no method of a tensor."""

from __future__ import annotations

from pathlib import Path

import syncscan.rules
import torch
import torch.distributed.tensor
import torch.masked
from torch.distributed._functional_collectives import AsyncCollectiveTensor
from torch.nested._internal.nested_tensor import NestedTensor

KINDS = (
    torch.Tensor,
    torch.nn.Parameter,
    torch.distributed.tensor.DTensor,
    AsyncCollectiveTensor,
    torch.masked.MaskedTensor,
    NestedTensor,
)


def test_each_name_of_torch_is_in_the_list() -> None:
    (folder,) = syncscan.rules.__path__
    listed = Path(folder, "tensor_names.txt").read_text(encoding="utf-8").split()
    names = {name for kind in KINDS for name in dir(kind)} - {*dir(object)}
    assert sorted(names - {*listed}) == [], "add these to rules/tensor_names.txt"
    assert listed == sorted({*listed})

"""The list of what tensors have is that of torch, so that a method of another name is no method of a tensor."""

from __future__ import annotations

from pathlib import Path

import syncscan.rules


def kinds() -> tuple[type, ...]:
    """The kinds of tensors of torch, whose modules take half a second to import."""
    import torch.distributed.tensor  # noqa: PLC0415 (slow, see above; so are the next three)
    import torch.masked  # noqa: PLC0415
    from torch.distributed._functional_collectives import AsyncCollectiveTensor  # noqa: PLC0415
    from torch.nested._internal.nested_tensor import NestedTensor  # noqa: PLC0415

    return (
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
    names = {name for kind in kinds() for name in dir(kind)} - {*dir(object)}
    assert sorted(names - {*listed}) == [], "add these to rules/tensor_names.txt"
    assert listed == sorted({*listed})

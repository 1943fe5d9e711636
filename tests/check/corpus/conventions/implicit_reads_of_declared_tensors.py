"""A tensor by its annotation is on the GPU for what reads it silently; who reads it by name may keep it on the host."""

import torch
from torch import Tensor
from torch.distributions import Categorical


def counts(ids: Tensor, logits: Tensor) -> None:
    torch.unique(ids)  # expect: SYN204 (inferred)
    ids.nonzero()  # expect: SYN202 (inferred)
    ids[ids > 0].add_(1)  # expect: SYN201 (inferred)
    torch.masked_select(ids, ids > 0)  # expect: SYN203 (inferred)
    torch.repeat_interleave(ids, ids)  # expect: SYN205 (inferred)
    torch.bincount(ids)  # expect: SYN206 (inferred)
    torch.linalg.inv(logits)  # expect: SYN502 (inferred)
    Categorical(logits=logits)  # expect: SYN502 (inferred)


def compares(a: Tensor, b: Tensor) -> None:
    torch.equal(a, b)  # expect: SYN103 (inferred)
    torch.allclose(a, b)  # expect: SYN103 (inferred)
    int(a.sum())  # expect: SYN103 (assumed)
    a.tolist()  # expect: SYN102 (assumed)
    a.max().item()  # expect: SYN101 (assumed)


def tests(lens: Tensor, scale: Tensor) -> None:
    if (lens > 0).any():  # expect: SYN104 (inferred)
        pass
    total = scale.sum()
    if total == 0:  # expect: SYN104 (inferred)
        pass
    assert lens.max() < 8  # expect: SYN104 (inferred)
    if lens[0] == 3:  # expect: SYN104 (assumed)
        pass
    for length in lens:
        if length > 0:  # expect: SYN104 (assumed)
            pass


def used(values) -> None:
    values = values.unsqueeze(0)
    torch.unique(values)  # expect: SYN204 (assumed)

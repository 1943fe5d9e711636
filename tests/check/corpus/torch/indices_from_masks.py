"""What is made of a mask may be an index, which does not wait; what compares, or asks for bools, is a mask."""

import torch


def rows_of(x: torch.Tensor, *, gpu: torch.Tensor, mask: torch.Tensor) -> None:
    """Nobody calls it."""


def positions() -> None:
    gpu, mask = torch.ones(8, device="cuda"), torch.ones(8, device="cuda") > 0
    (at,) = torch.where(mask)  # expect: SYN202
    gpu[at]  # silent
    gpu[torch.where(mask)[0]]  # expect: SYN202 `torch.where(mask)`
    gpu[torch.where(mask, 1, 0) > 0]  # expect: SYN201
    gpu[mask.nonzero()[:, 0]]  # expect: SYN202 `mask.nonzero()`
    (at,) = mask.nonzero(as_tuple=True)  # expect: SYN202
    gpu[at]  # silent
    at[0]  # silent
    gpu[at[0]] = 1  # expect: SYN106


def orders() -> None:
    gpu, mask = torch.ones(8, device="cuda"), torch.ones(8, device="cuda") > 0
    gpu[mask.sort().indices]  # silent
    gpu[mask.sort()[1]]  # silent
    gpu[mask.topk(2)[1]]  # silent
    gpu[mask.argsort()]  # silent
    gpu[torch.randperm(8, device="cuda")]  # silent
    _, at = mask.reshape(2, 4).max(dim=0)
    gpu[at]  # silent
    gpu[mask.sort()[0]]  # expect: SYN201
    _, inverse = mask.unique(return_inverse=True)  # expect: SYN204
    gpu[inverse]  # silent


def masks(ints: torch.Tensor) -> None:
    gpu, mask = torch.ones(8, device="cuda"), torch.ones(8, device="cuda") > 0
    picked = torch.isin(torch.ones(8, device="cuda"), torch.ones(200, device="cuda"))  # expect: SYN206
    gpu[picked]  # expect: SYN201
    gpu[torch.zeros(8, dtype=torch.bool, device="cuda")]  # expect: SYN201
    gpu[torch.zeros(8, dtype=bool, device="cuda")]  # expect: SYN201
    unknown = gpu[3:].view(torch.uint8)
    gpu[mask & unknown]  # silent
    gpu[mask * torch.ones(8, dtype=torch.int64, device="cuda")]  # silent
    gpu[mask + 1]  # silent
    rows_of(ints, gpu=gpu, mask=mask)


def inverted(gpu: torch.Tensor, labels: torch.Tensor) -> None:
    gpu = torch.ones(8, device="cuda")
    gpu[~labels.to("cuda")]  # expect: SYN201 (proved)
    gpu[~torch.arange(8, device="cuda")]  # silent

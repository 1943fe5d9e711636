"""A return annotation counts where the body does not show what is returned."""

import torch
from backend import kernel


def tokens(n: int) -> torch.Tensor:
    return kernel(n)


def host_tokens(n: int) -> list[int]:
    return kernel(n)


class Backend:
    def logits(self) -> torch.Tensor:
        raise NotImplementedError


def run(backend: Backend):
    tokens(4).tolist()  # silent: nothing says where it is
    logits_cpu = tokens(4)
    logits_cpu.tolist()  # silent
    torch.zeros(8, device="cuda")[host_tokens(4)] = 0  # expect: SYN305
    (tokens(4) + torch.ones(4, device="cuda")).tolist()  # expect: SYN102
    return backend.logits()

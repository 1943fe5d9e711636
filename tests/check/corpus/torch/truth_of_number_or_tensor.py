"""A flag that starts as a plain number and becomes a tensor waits once it is one."""

import torch


def converges(y: torch.Tensor, flag: bool):
    converged = False
    for _ in range(9):
        y = y / 2
        converged = (y.cuda() < 1).all()
        if converged:  # expect: SYN104
            break
    if not converged:  # expect: SYN104 (proved)
        raise ValueError
    on_host = False
    if flag:
        on_host = (torch.ones(1) < 1).all()
    if on_host:  # silent
        return None
    name = "a" if flag else torch.ones(1, device="cuda")
    if name:  # silent
        return y
    return y


def scaled(scale: float | torch.Tensor):
    if scale > 1:  # silent
        return scale
    return 0


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor, scale: float | torch.Tensor):
        if scale > 1:  # silent
            return x * scale
        return x


def attends(flag: bool, n: int):
    causal = True
    if flag:
        causal = torch.zeros(n, device="cuda")
    if not causal:  # silent: the truth of several elements raises, so a flag arrives here
        return None
    if flag:
        causal = torch.zeros(n, device="cuda").any()
    if not causal:  # expect: SYN104
        return None
    return causal

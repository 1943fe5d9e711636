"""What a caller passes does not take the default away."""

import torch


def kept(device="cuda"):
    return torch.zeros(3, device=device).tolist()  # silent: its only caller says another one


def called_without(device="cuda"):
    return torch.zeros(3, device=device).tolist()  # expect: SYN102


def flagged(pinned=False):
    return torch.zeros(3, pin_memory=pinned).to("cuda", non_blocking=True)  # silent: pinned for one caller


def doubled(t: torch.Tensor):
    return t * 2


def run(x):
    kept(device="cpu")
    called_without(device="cpu")
    called_without()
    flagged(True)
    return doubled(x).tolist()  # expect: SYN102 (assumed)

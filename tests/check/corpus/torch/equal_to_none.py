"""A comparison of a tensor with None is a truth value of Python; NumPy compares each element."""

import torch


def attend(x: torch.Tensor, mask=None):
    if mask != None:  # noqa: E711 (this program tests the operator)
        x = x * mask
    if x == None:  # noqa: E711 (this program tests the operator)
        return mask
    if x != 0:  # expect: SYN104 (unknown)
        return x
    return None == x


attend(torch.ones(1, device="cuda"), torch.ones(1, device="cuda"))

"""A starred target takes the items that the others leave, and each of the others takes its own."""

import torch


def several():
    first, *middle, last = torch.ones(3), torch.ones(3, device="cuda"), torch.ones(3)
    first.tolist()
    last.tolist()
    middle[0].tolist()  # expect: SYN102 (unknown)


def nested():
    (rows, name), *others = (torch.ones(3, device="cuda"), "rows"), torch.ones(3), torch.ones(3)
    rows.tolist()  # expect: SYN102 (unknown)
    for other in others:
        other.tolist()


def at_the_end(pair):
    *_, last = torch.ones(3), torch.ones(3, device="cuda")
    last.tolist()  # expect: SYN102 (unknown)
    rows, *nothing = (torch.ones(3, device="cuda"),)
    rows.tolist()  # expect: SYN102 (unknown)
    return nothing


class Reversible(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x, x + 1, torch.LongTensor([1, 2]))
        return x

    @staticmethod
    def backward(ctx, gradient):
        x, y, *layers = ctx.saved_tensors
        y.tolist()  # expect: SYN102 (step)
        return layers[0].tolist(), x


Reversible.apply(torch.ones(3, device="cuda"))

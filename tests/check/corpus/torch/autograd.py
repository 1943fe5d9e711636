"""A backward pass does not wait; its numbers do when they are read."""

import torch
from torch import nn


def train(model: nn.Module, batches, optimizer):
    total = torch.zeros((), device="cuda")
    for x, y in batches:
        loss = nn.functional.mse_loss(model(x.cuda()), y.cuda())
        optimizer.zero_grad()
        loss.backward()  # silent
        optimizer.step()  # silent
        total += loss.detach()
        if loss.isnan():  # expect: SYN104
            break
    return total.item()  # expect: SYN101


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x: torch.Tensor):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad: torch.Tensor):
        if grad.max() > 1:  # expect: SYN104 (assumed)
            grad = grad.clamp(max=1)
        return grad


def second(x: torch.Tensor):
    gpu = torch.ones(4, device="cuda", requires_grad=True)
    (grad,) = torch.autograd.grad(gpu.sum(), gpu)
    grad.tolist()  # expect: SYN102
    gpu.grad.tolist()  # expect: SYN102
    return gpu.detach().tolist()  # expect: SYN102

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
        ctx.is_large = x > 1
        ctx.save_for_backward(x, x + 1)
        x[ctx.is_large]  # expect: SYN201 (inferred)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        x, more = ctx.saved_tensors
        if grad.max() > 1:  # expect: SYN104 (inferred)
            grad = grad.clamp(max=1)
        more[ctx.is_large]  # expect: SYN201 (inferred)
        return grad


class OnTheHost(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x[x > 1]  # silent: what is passed is in host memory

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.count = 2

    @staticmethod
    def backward(ctx, grad):
        return grad * float(ctx.count)  # silent: a number


def apply():
    Square.apply(torch.ones(4, device="cuda")).tolist()  # expect: SYN102 (inferred)
    square = Square.apply
    square(torch.ones(4, device="cuda")).tolist()  # expect: SYN102 (inferred)
    OnTheHost.apply(torch.ones(4)).tolist()  # silent


def second(x: torch.Tensor):
    gpu = torch.ones(4, device="cuda", requires_grad=True)
    (grad,) = torch.autograd.grad(gpu.sum(), gpu)
    grad.tolist()  # expect: SYN102
    gpu.grad.tolist()  # expect: SYN102
    return gpu.detach().tolist()  # expect: SYN102

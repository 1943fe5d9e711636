"""A factor as a position stands before the tensors: deprecated overloads, which old optimizers use."""

import torch

mean = torch.zeros(3, device="cuda")
grad = torch.ones(3, device="cuda")

mean.mul_(0.9).add_(0.1, grad)
mean.addcmul_(0.1, grad, grad)
mean.addcdiv_(0.1, grad, grad)
torch.add(mean, 0.1, grad)
mean.sub(0.1, grad)
mean.add_(grad.sum(), grad)  # expect: SYN106
mean.add_(grad, alpha=grad.sum())  # expect: SYN106
mean.addcmul_(grad, grad, value=grad.sum())  # expect: SYN106

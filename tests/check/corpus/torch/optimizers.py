"""The parameters that optimizers and modules list are where the modules are, and so are their gradients."""

import torch


class Sgd(torch.optim.Optimizer):
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad.norm() > group["limit"]:  # expect: SYN104 (inferred)
                    p.add_(p.grad, alpha=group["lr"])  # silent: a number
                state = self.state[p]
                mean = state["mean"].mul_(0.9).add_(p.grad)
                mean.max().item()  # expect: SYN101 (inferred)


def clip(model, optimizer, settings):
    for group in optimizer.param_groups:
        group["params"][0].grad.norm().item()  # expect: SYN101 (inferred)
        group["lr"].item()  # silent
    for name, p in model.named_parameters():
        print(name, p.grad.data.norm(2).item())  # expect: SYN101 (inferred)
    settings.groups[0]["params"][0].item()  # silent
    return torch.stack([p.grad.norm() for p in model.parameters()]).tolist()  # expect: SYN102 (inferred)

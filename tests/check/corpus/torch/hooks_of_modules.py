"""Hooks get what a module takes and gives, and the gradients of a tensor, when torch calls them."""

import torch
from torch import nn


class Router(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(4, 4)

    def forward(self, x):
        scores = self.gate(x)
        return scores, scores > 0


class Profiler:
    def __init__(self, model: nn.Module):
        self.handles = [m.register_forward_hook(self._hook(name)) for name, m in model.named_modules()]
        self.means = {}

    def _hook(self, name):
        def hook(module, inputs, output):
            self.means[name] = output.detach().mean().item()  # expect: SYN101

        return hook


def count_kept(module, inputs, output):
    scores, kept = output
    print(scores[kept].shape)  # expect: SYN201


def norm_of_gradients(module, grad_input, grad_output):
    print(grad_output[0].norm().item())  # expect: SYN101


def with_keywords(module, inputs, keywords, output):
    print(output)  # silent


router = Router().cuda()  # expect: SYN302
router.register_forward_hook(count_kept)
router.register_full_backward_hook(norm_of_gradients)
router.register_forward_hook(with_keywords, with_kwargs=True)
weight = torch.zeros(3, device="cuda", requires_grad=True)
weight.register_hook(lambda grad: print(grad.norm().item()))  # expect: SYN101
on_host = torch.zeros(3, requires_grad=True)
on_host.register_hook(lambda grad: print(grad.norm().item()))  # silent
stays = nn.Linear(4, 4)
stays.register_forward_hook(lambda module, inputs, output: print(output.sum().item()))  # silent


class Watched:
    def __init__(self, model: nn.Module):
        self.model = model

    def _hook(self, module, inputs, output):
        print(output.mean().item())  # expect: SYN101

    @property
    def handle(self):
        return self.model.register_forward_hook(self._hook)


def watch(watched: Watched):
    return watched.handle  # silent: the hook runs later


class Passing(torch.nn.Module):
    def forward(self, x, fast=False):
        if fast:
            x = torch.zeros(3)
        return x


def read_what_passes(module, given, made):
    made.tolist()  # expect: SYN102


def hooked():
    passing = Passing()
    passing.register_forward_hook(read_what_passes)
    passing(torch.ones(3, device="cuda"))

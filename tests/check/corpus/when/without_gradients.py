"""What runs under `inference_mode` is taken for a step, and so is a method under `no_grad`; a function may prepare a model too."""

import torch
from torch import inference_mode


@torch.inference_mode()
def step():
    return torch.zeros(1, device="cuda").item()  # expect: SYN101 (step)
    # reached: step


@torch.no_grad()
def entropies():
    return helper()


@torch.no_grad()
def block_sample():
    return torch.zeros(1, device="cuda").item()  # expect: SYN101 (step)


@torch.no_grad()
def convert_module_to_lora():
    return torch.zeros(1, device="cuda").item()  # expect: SYN101 (once)


def load_weights():
    return helper()


class Pipeline:
    @torch.no_grad()
    def __call__(self):
        return denoise()


@inference_mode
def bare():
    return torch.zeros(1, device="cuda").item()  # expect: SYN101 (unknown)


@torch.enable_grad()
def train():
    return torch.zeros(1, device="cuda").item()  # expect: SYN101 (once)


def helper():  # may be a part of what a user calls for each image, though all else that calls it loads
    return torch.zeros(1, device="cuda").item()  # expect: SYN101 (unknown)


def denoise():
    return torch.zeros(1, device="cuda").item()  # expect: SYN101 (step)
    # reached: Pipeline.__call__ > denoise


def unused():
    with torch.no_grad():
        return torch.zeros(1, device="cuda").item()  # expect: SYN101 (unknown)


class Permute:
    @torch.no_grad()
    def convert(self, weights):
        return torch.zeros(1, device="cuda").item()  # expect: SYN101 (once)

"""Weights are quantized and rotated under `no_grad`, once for each layer; a decorator alone makes no step of that."""

import torch
from torch import nn


class Quantizer:
    @torch.no_grad()
    def search_scale(self, weight: torch.Tensor):
        best = weight.abs().max().to("cuda")
        return best.item()  # expect: SYN101 (unknown)

    @torch.inference_mode()
    def quantize(self, model):
        for layer in model.layers:
            self.model_forward(layer)
            self.rotate(layer)

    def rotate(self, layer):
        return torch.zeros(1, device="cuda").item()  # expect: SYN101 (unknown)

    def model_forward(self, layer):
        return layer


class Averaged:
    @torch.no_grad()
    def update_parameters(self, model: nn.Module):
        return torch.zeros(1, device="cuda").item()  # expect: SYN101 (step)


class Observer:
    @torch.no_grad()
    def watch(self, model):
        for name, module in model.named_modules():
            self.forward(module)
            self.note(name)

    def forward(self, module):
        return module

    def note(self, name):
        return torch.zeros(1, device="cuda").item()  # expect: SYN101 (unknown)


class Blocks:
    @torch.no_grad()
    def decode_blocks(self, model, x, n_blocks):
        for _ in range(n_blocks):
            x = model(x)
            torch.zeros(1, device="cuda").item()  # expect: SYN101 (step)

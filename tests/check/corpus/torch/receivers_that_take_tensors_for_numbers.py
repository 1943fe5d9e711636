"""An unknown object takes a tensor where a tensor's method takes a number: the object is no tensor."""

import torch
from out_of_sight import make_backbone
from torch import nn


class Tiled(nn.Module):
    def __init__(self, name):
        super().__init__()
        self.tiler = None
        self.backbone = make_backbone(name)

    def forward(self, images: torch.Tensor, picked: torch.Tensor):
        if self.tiler:  # false: SYN104 (assumed)
            images = self.tiler.tile(images)  # silent
        features = self.backbone.norm(images)  # silent
        rows = self.backbone.table.masked_fill(picked > 0, picked.sum())  # expect: SYN106
        return features, rows, self.backbone.table.repeat(images.sum())  # expect: SYN106


def store(client, key):
    stored = client.put(key, torch.ones(3, device="cuda"))
    return bool(stored)  # silent: a client of a store has this method too

"""Where nothing is known of an item that is passed, an annotation of the whole says what it is."""

import torch
from torch import nn


class Embeddings(nn.Module):
    def rows(self, packed: tuple[torch.Tensor, torch.Tensor]):
        for shape in packed[1]:
            int(shape[0])  # expect: SYN103 (inferred)

    def forward(self, packed: tuple[torch.Tensor, torch.Tensor]):
        return self.rows(packed)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embeddings = Embeddings()

    def forward(self, x: torch.Tensor, images):
        return self.embeddings((x, images.shapes))

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, size: int):
        super().__init__()
        self.parts = nn.ModuleDict(dict(embed=nn.Embedding(size, 8), norm=nn.LayerNorm(8)))

    def forward(self, ids):
        rows = self.parts.norm(self.parts.embed(ids))
        return rows[:, [-1], :]  # expect: SYN305


def run():
    return Model(4).to("cuda")(torch.zeros((2, 2), dtype=torch.long, device="cuda"))  # expect: SYN302

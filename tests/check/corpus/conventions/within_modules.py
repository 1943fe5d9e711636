"""In a method of a module, and in functions within one, what is used as a tensor is on the GPU, as a parameter is that models name so."""

import torch
from torch import nn


class Pooler(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.table = table.mul_(2)
        if self.table.max() > 3:  # expect: SYN104 (assumed)
            self.table = None

    def forward(self, x, y):
        solution = torch.linalg.lstsq(x[:, 1:], y[:1]).solution  # expect: SYN502 (inferred)
        if torch.isnan(solution).any():  # expect: SYN104 (inferred)
            return None

        def pool(rows: torch.Tensor, mask: torch.Tensor):
            return rows[torch.arange(mask.shape[0]), mask.int().argmax(-1)]  # expect: SYN305 (inferred)

        return pool(solution, y > 3)

    @staticmethod
    def loss(scores, overlaps, threshold):
        positive = (overlaps > threshold).float()
        return max(torch.sum(positive), 1)  # expect: SYN104 (inferred)

    def prepare(self, ids, cache_position, words=None):
        past = cache_position[0]
        if ids.shape[1] > past:  # expect: SYN104 (inferred)
            words[0].item()  # silent
        return torch.ones(ids.shape[1] - past)  # expect: SYN106 (inferred)

    def unpacked(self, data, batch_sizes):
        first = batch_sizes.narrow(0, 0, 1)
        return data.narrow(0, 0, first.item())  # silent: sizes of packed sequences stay on the host

    def load(self, path):
        state = torch.load(path, map_location="cpu")
        if torch.isnan(state["w"]).any():  # false: SYN104 (assumed)
            raise ValueError

    def decode(self, input_ids):
        if not input_ids:  # silent: a list
            return ""
        return [self.names[i] for i in input_ids if i != 0]  # silent


def prepare(ids, cache_position):
    return ids.shape[1] > cache_position[0], bool(cache_position[0])  # silent

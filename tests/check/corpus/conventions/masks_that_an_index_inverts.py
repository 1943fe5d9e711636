"""What an index inverts is a mask, and a tensor: of numbers, ``~n`` is no position that anybody writes."""

import torch
from torch import nn


class Queue(nn.Module):
    def forward(self, rows: torch.Tensor, labels, chosen_mask=None):
        if chosen_mask is not None:
            kept = rows[chosen_mask]  # expect: SYN201
            rows = rows[~chosen_mask]  # expect: SYN201
            labels = labels[~chosen_mask]  # expect: SYN201
            return kept, rows, labels
        return rows


def split(rows, chosen):
    return rows[chosen], rows[~chosen]  # expect: SYN201 (assumed)


def on_host(rows):
    chosen = torch.zeros(4) > 0
    return rows[~chosen]  # silent


def computed(table, names):
    return table[~names.isin(["a"])]  # silent: a table has this method as well

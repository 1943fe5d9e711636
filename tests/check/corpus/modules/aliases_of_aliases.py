"""A name that stands for a name that stands for a name means what the last of them means, also in an annotation."""

import torch

zeros = torch.zeros
made = zeros
made(3, device="cuda").tolist()  # expect: SYN102
First = torch.Tensor
Second = First
Third = Second
Fourth = Third
Fifth = Fourth
Sixth = Fifth


def read(rows: Sixth):
    rows.tolist()  # expect: SYN102 (assumed)

"""Named tuples are unpacked in the order of their fields, and read by name."""

from typing import NamedTuple

import torch


class Output(NamedTuple):
    ids: torch.Tensor
    scores: torch.Tensor


def sample():
    return Output(torch.ones(1), torch.ones(1, device="cuda"))


output = sample()
output.scores.item()  # expect: SYN101
output.ids.item()  # silent
ids, scores = sample()
scores.item()  # expect: SYN101
ids.item()  # silent
changed = output._replace(ids=torch.ones(1))
changed.scores.item()  # expect: SYN101

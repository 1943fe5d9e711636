"""An argument that is None is not given."""

import torch
import torch.nn.functional as F


def run(size=None):
    ids = torch.arange(4, device="cuda")
    torch.repeat_interleave(ids, ids, output_size=None)  # expect: SYN205
    torch.repeat_interleave(ids, ids, output_size=8)  # silent
    torch.repeat_interleave(ids, ids, 0, output_size=size or 8)  # silent
    torch.where(ids > 1, None, None)  # expect: SYN202
    torch.zeros(4, device=None, dtype=None).tolist()  # silent
    ids.to("cpu", None).tolist()  # expect: SYN105
    ids.sum(None).item()  # expect: SYN101
    ids.sum(dim=None).item()  # expect: SYN101
    torch.zeros(4, out=None, device="cuda").tolist()  # expect: SYN102
    return F.one_hot(ids, -1)  # silent: how many classes are given

"""Operations whose result has a size that only the data knows wait for it."""

import torch
import torch.nn.functional as F


def run(mask: torch.Tensor):
    ids = torch.arange(8, device="cuda")
    chosen = ids > 4
    torch.nonzero(chosen)  # expect: SYN202
    chosen.nonzero(as_tuple=True)  # expect: SYN202
    torch.where(chosen)  # expect: SYN202
    torch.argwhere(chosen)  # expect: SYN202
    torch.where(chosen, ids, 0)  # silent
    torch.nonzero_static(chosen, size=4)  # silent
    torch.masked_select(ids, chosen)  # expect: SYN203
    ids.masked_select(chosen)  # expect: SYN203
    ids.masked_fill(chosen, 0)  # silent
    ids.unique()  # expect: SYN204
    torch.unique_consecutive(ids)  # expect: SYN204
    torch.repeat_interleave(ids, ids)  # expect: SYN205
    torch.repeat_interleave(ids, ids, output_size=8)  # silent
    ids.repeat_interleave(2)  # silent
    torch.bincount(ids)  # expect: SYN206
    F.one_hot(ids)  # expect: SYN206
    F.one_hot(ids, num_classes=8)  # silent
    torch.multinomial(ids.float(), 2), torch.sort(ids), torch.cumsum(ids, 0)  # silent
    host = torch.arange(8)
    host.unique(), torch.nonzero(host), torch.bincount(host)  # silent

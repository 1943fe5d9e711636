"""A table of tensors that is moved is no tensor."""

import torch


def merged(batch, device):
    batch = batch.to("cuda")
    if "ids" in batch.keys():  # silent
        return batch.pop("ids")  # silent
    return torch.ones(4, device="cuda").sum().item()  # expect: SYN101

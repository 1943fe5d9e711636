"""A tensor that follows from its use after a conversion alone is not found: modules and batches convert too."""

import torch


def padded(indices, size):
    indices = indices.reshape(-1).to(torch.int32)
    kept = indices[indices != -1]  # todo: SYN201
    return torch.cat((kept, kept.new_zeros(size - indices.numel())))

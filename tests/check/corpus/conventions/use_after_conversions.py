"""What is a tensor after a conversion was one before it."""

import torch


def padded(indices, size):
    indices = indices.reshape(-1).to(torch.int32)
    kept = indices[indices != -1]  # expect: SYN201 (assumed)
    return torch.cat((kept, kept.new_zeros(size - indices.numel())))

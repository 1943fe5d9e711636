"""The name of a tensor promises what it is made of, where nothing else says so."""

import torch


def run(rows: torch.Tensor, mask: torch.Tensor, slot_mapping: torch.Tensor, seq_lens: torch.Tensor):
    gpu = torch.zeros((8, 4), device="cuda")
    gpu[mask]  # expect: SYN201 (inferred)
    gpu[slot_mapping]  # silent
    gpu[seq_lens] = 0.0  # expect: SYN306 (assumed)
    gpu[rows]  # silent: an index or a mask


def more(attention_mask: torch.Tensor, masked: torch.Tensor, token_ids: torch.Tensor):
    gpu = torch.zeros((8, 4), device="cuda")
    gpu[attention_mask]  # expect: SYN201 (inferred)
    gpu[masked]  # silent
    return gpu[token_ids]  # silent

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


class Batch:
    def __init__(self, data):
        self.padding_mask = torch.as_tensor(data["mask"], device="cuda")
        self.mask_ids = torch.as_tensor(data["ids"], device="cuda")
        self.rows = torch.as_tensor(data["rows"], device="cuda")
        self.mask_positions = torch.as_tensor(data["positions"], device="cuda")


def fill(data):
    gpu = torch.zeros((8, 4), device="cuda")
    batch = Batch(data)
    gpu[batch.padding_mask] = 0.0  # silent: a mask fills
    gpu[:, batch.padding_mask]  # expect: SYN201 (inferred)
    gpu[batch.mask_ids] = 0.0  # expect: SYN306 (inferred)
    gpu[:, batch.mask_positions]  # silent
    gpu[{"mask": batch.rows}["mask"]] = 0.0  # silent

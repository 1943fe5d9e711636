"""Attention of `flash_attn` stays on the GPU; taking the padding out counts the tokens on the host."""

import torch
from flash_attn import flash_attn_func, flash_attn_varlen_func
from flash_attn.bert_padding import index_first_axis, pad_input, unpad_input


def forward(n: int):
    x = torch.ones(2, 4, 8, device="cuda")
    mask = torch.ones(2, 4, device="cuda", dtype=torch.int32)
    flash_attn_func(x, x, x).sum().item()  # expect: SYN101
    rows, indices, lengths, longest, used = unpad_input(x, mask)  # expect: SYN206
    lengths = torch.arange(3, device="cuda", dtype=torch.int32)
    flash_attn_varlen_func(x, x, x, lengths, lengths, longest, longest)  # silent
    flash_attn_varlen_func(x, x, x, lengths, lengths, lengths.max(), n)  # expect: SYN106
    unpad_input(x.cpu(), mask.cpu())  # expect: SYN105, SYN105
    index_first_axis(x, lengths)  # silent
    pad_input(x, lengths, 2, 4).sum().item()  # expect: SYN101
    return rows, indices, used

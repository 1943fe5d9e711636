"""Tables of chunks computed from lengths on the GPU, in the operator that needs them."""

from __future__ import annotations

import functools

import torch

CHUNK_SIZE = 64


@functools.lru_cache(maxsize=1)  # by identity: both operators of a step share one computation
def prepare_chunks(cu_seqlens: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the sequence and number of each chunk, and the count of chunks before each sequence."""
    chunks = (cu_seqlens.diff() + CHUNK_SIZE - 1) // CHUNK_SIZE
    offsets = torch.cat([chunks.new_zeros(1), chunks.cumsum(0)]).int()
    pairs = [
        (sequence, number)
        for sequence, count in enumerate(chunks.tolist())  # expect: SYN102
        for number in range(count)
    ]
    indices = torch.tensor(pairs, dtype=torch.int32, device=cu_seqlens.device)  # expect: SYN301
    return indices.reshape(-1, 2), offsets


def chunked_cumsum(values: torch.Tensor, cu_seqlens: torch.Tensor) -> torch.Tensor:
    """Return the running sum over each sequence; the top of the chain."""
    within, chunk_of = cumsum_in_chunks(values, cu_seqlens)
    return within + carry_over_chunks(values, cu_seqlens, chunk_of)[chunk_of]


def cumsum_in_chunks(values: torch.Tensor, cu_seqlens: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the running sum within each chunk, and the chunk of each token."""
    indices, _ = prepare_chunks(cu_seqlens)
    sequence, number = indices.long().unbind(1)
    starts = cu_seqlens[sequence] + number * 64
    tokens = torch.arange(len(values), device=values.device)
    chunk_of = torch.searchsorted(starts, tokens, right=True) - 1
    lanes = tokens - starts[chunk_of]
    padded = values.new_zeros(len(starts), 64, values.shape[1])
    padded[chunk_of, lanes] = values
    return padded.cumsum(1)[chunk_of, lanes], chunk_of


def carry_over_chunks(values: torch.Tensor, cu_seqlens: torch.Tensor, chunk_of: torch.Tensor) -> torch.Tensor:
    """Return the sum over the earlier chunks of the same sequence."""
    indices, offsets = prepare_chunks(cu_seqlens)
    sums = values.new_zeros(len(indices), values.shape[1]).index_add_(0, chunk_of, values)
    before = sums.cumsum(0) - sums
    return before - before[offsets.long()[indices[:, 0].long()]]

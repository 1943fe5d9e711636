"""Tables of chunks for operators that work on long sequences piece by piece (vLLM #38361).

The number of chunks depends on the sequence lengths, so computing the tables from lengths on the GPU
blocks the host. The host has the lengths already: compute the tables there once per step,
upload them without blocking, and hand them down the chain of operators as optional arguments. An operator
called without tables still works: the operator computes them, and blocks.

The chain here is a running sum over each of several sequences laid end to end, in three operators.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from syncscan.reference.checks import INTEGERS, check_counts, check_tensor
from syncscan.reference.uploads import upload

CHUNK_SIZE = 64  # tokens that one program of a kernel works on; every table and operator agrees on it


class ChunkTables(NamedTuple):
    """The places of the chunks, int32: ``indices`` (chunks, 2) and ``offsets`` (sequences + 1,).

    A row of ``indices`` is a sequence and the number of the chunk in it; ``offsets`` counts the chunks
    before each sequence.
    """

    indices: torch.Tensor
    offsets: torch.Tensor


def prepare_chunks(cu_seqlens: NDArray[np.int32], device: torch.device | str) -> ChunkTables:
    """Return the tables of sequences that end at ``cu_seqlens``, on ``device``, without blocking.

    ``cu_seqlens`` (sequences + 1,) is a host array that starts at 0 and never falls; ValueError if not.
    """
    check_counts("cu_seqlens", cu_seqlens)
    lengths = np.diff(cu_seqlens)
    if len(cu_seqlens) == 0 or cu_seqlens[0] != 0 or (lengths < 0).any():
        raise ValueError("cu_seqlens: expected cumulative lengths that start at 0 and never fall")
    chunks = -(-lengths // CHUNK_SIZE)
    offsets = np.concatenate([[0], chunks.cumsum()])
    sequence = np.repeat(np.arange(len(chunks)), chunks)
    number = np.arange(offsets[-1]) - np.repeat(offsets[:-1], chunks)
    indices = np.stack([sequence, number], axis=1)
    return ChunkTables(upload(indices, device, torch.int32), upload(offsets, device, torch.int32))


def prefill_chunks(
    cu_seqlens: NDArray[np.int32], num_prefills: int, device: torch.device | str
) -> ChunkTables | None:
    """Return the tables for a step, or None where it has no prefills and no operator will ask for them."""
    return prepare_chunks(cu_seqlens, device) if num_prefills else None


def chunked_cumsum(
    values: torch.Tensor, cu_seqlens: torch.Tensor, tables: ChunkTables | None = None
) -> torch.Tensor:
    """Return the running sum over each sequence; the top of the chain.

    ``values`` is (tokens, width), ``cu_seqlens`` (sequences + 1,) int32 or int64 on the same device, and
    the result is like ``values``. Without ``tables`` the operator computes them, and blocks.
    """
    check_tensor("values", values, (None, None), values.device)
    check_tensor("cu_seqlens", cu_seqlens, (None,), values.device, *INTEGERS)
    tables = chunks_of(cu_seqlens) if tables is None else tables
    within, chunk_of = cumsum_in_chunks(values, cu_seqlens, tables)
    return within + carry_over_chunks(values, cu_seqlens, chunk_of, tables)[chunk_of]


def chunks_of(cu_seqlens: torch.Tensor) -> ChunkTables:
    """Return the tables of lengths that only the GPU has: the fallback, which blocks."""
    lengths = cu_seqlens.cpu()  # syncscan: ignore[SYN105] the fallback for callers without tables
    return prepare_chunks(lengths.numpy(), cu_seqlens.device)


def cumsum_in_chunks(
    values: torch.Tensor, cu_seqlens: torch.Tensor, tables: ChunkTables | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the running sum within each chunk, and the chunk of each token, (tokens,) int64."""
    tables = chunks_of(cu_seqlens) if tables is None else tables
    sequence, number = tables.indices.long().unbind(1)
    starts = cu_seqlens[sequence] + number * CHUNK_SIZE
    tokens = torch.arange(len(values), device=values.device)
    chunk_of = torch.searchsorted(starts, tokens, right=True) - 1
    lanes = tokens - starts[chunk_of]
    padded = values.new_zeros(len(starts), CHUNK_SIZE, values.shape[1])
    padded[chunk_of, lanes] = values
    return padded.cumsum(1)[chunk_of, lanes], chunk_of


def carry_over_chunks(
    values: torch.Tensor, cu_seqlens: torch.Tensor, chunk_of: torch.Tensor, tables: ChunkTables | None = None
) -> torch.Tensor:
    """Return the sum over the earlier chunks of the same sequence; (chunks, width)."""
    tables = chunks_of(cu_seqlens) if tables is None else tables
    sums = values.new_zeros(len(tables.indices), values.shape[1]).index_add_(0, chunk_of, values)
    before = sums.cumsum(0) - sums
    return before - before[tables.offsets.long()[tables.indices[:, 0].long()]]

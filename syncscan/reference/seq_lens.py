"""How long each sequence is, known on the host without asking the GPU (vLLM #40654).

The exact lengths live on the GPU, because only the sampler knows how many draft tokens were accepted.
The host knows an upper bound: what the scheduler had computed, plus what it scheduled. Sizing a
workspace, choosing a kernel or splitting a batch needs no more than that.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from syncscan.reference.checks import check_counts, check_tensor
from syncscan.reference.uploads import upload


def sequence_length_bound(
    num_computed_tokens: NDArray[np.int32], num_scheduled_tokens: NDArray[np.int32], padded_to: int
) -> torch.Tensor:
    """Return an upper bound of each sequence's length after this step; int32, in host memory, shape (padded_to,).

    Both arguments are host arrays of one entry for each request; rows of padding get 0. The bound is
    exact for a request whose draft tokens were all accepted. ValueError if the batch does not fit.
    """
    check_counts("num_computed_tokens", num_computed_tokens)
    check_counts("num_scheduled_tokens", num_scheduled_tokens, len(num_computed_tokens))
    if padded_to < len(num_computed_tokens):
        raise ValueError(f"padded_to: expected at least {len(num_computed_tokens)}, got {padded_to}")
    bound = np.zeros(padded_to, dtype=np.int32)
    np.add(num_computed_tokens, num_scheduled_tokens, out=bound[: len(num_computed_tokens)], casting="unsafe")
    return torch.from_numpy(bound)


@dataclass(frozen=True)
class CommonAttentionMetadata:
    """The metadata of a batch of ``n`` requests for every attention backend.

    ``query_start_loc`` (n + 1,) and ``seq_lens`` (n,), int32, are on the GPU. ``query_start_loc_cpu``
    and ``seq_lens_cpu_upper_bound``, int32, are the same, and the bound of the same, in host memory.
    """

    query_start_loc: torch.Tensor
    query_start_loc_cpu: torch.Tensor
    seq_lens: torch.Tensor
    seq_lens_cpu_upper_bound: torch.Tensor

    def __post_init__(self) -> None:
        """Check shapes, dtypes and sides."""
        requests = len(self.seq_lens_cpu_upper_bound)
        device = self.seq_lens.device
        check_tensor("query_start_loc", self.query_start_loc, (requests + 1,), device, torch.int32)
        check_tensor("query_start_loc_cpu", self.query_start_loc_cpu, (requests + 1,), "cpu", torch.int32)
        check_tensor("seq_lens", self.seq_lens, (requests,), device, torch.int32)
        check_tensor(
            "seq_lens_cpu_upper_bound", self.seq_lens_cpu_upper_bound, (requests,), "cpu", torch.int32
        )

    @property
    def query_lens_cpu(self) -> torch.Tensor:
        """Tokens of each request in this step; (n,) int32, in host memory."""
        return self.query_start_loc_cpu[1:] - self.query_start_loc_cpu[:-1]

    @property
    def max_seq_len(self) -> int:
        """No sequence is longer than this; 0 for an empty batch."""
        return int(self.seq_lens_cpu_upper_bound.max()) if len(self.seq_lens_cpu_upper_bound) else 0

    @property
    def seq_lens_cpu(self) -> torch.Tensor:
        """The exact lengths in host memory. Deprecated, because the read blocks: use the upper bound."""
        warnings.warn("seq_lens_cpu blocks the CPU: use seq_lens_cpu_upper_bound", DeprecationWarning, 2)
        return self.seq_lens.cpu()  # syncscan: ignore[SYN105] the exact lengths, for who asks for them


def cross_attention_context(metadata: CommonAttentionMetadata) -> tuple[torch.Tensor, int]:
    """Return the tokens of each request before this step, and how many requests have any (cached decodes).

    The lengths are (n,) int32 in host memory, and as much a bound as the sequence lengths are.
    """
    context_lens = metadata.seq_lens_cpu_upper_bound - metadata.query_lens_cpu
    return context_lens, int((context_lens > 0).sum())


def mla_context_lens(metadata: CommonAttentionMetadata, num_decodes: int) -> tuple[torch.Tensor, int]:
    """Return the context lengths of the prefills, which follow ``num_decodes`` decodes, and the longest length.

    (n - num_decodes,) int32 in host memory: a prefill holds no draft tokens, so these are exact. The
    longest sizes the workspace of chunked prefill. ValueError if there are fewer requests.
    """
    if not 0 <= num_decodes <= len(metadata.seq_lens_cpu_upper_bound):
        raise ValueError(
            f"num_decodes: expected 0 to {len(metadata.seq_lens_cpu_upper_bound)}, got {num_decodes}"
        )
    context_lens = (metadata.seq_lens_cpu_upper_bound - metadata.query_lens_cpu)[num_decodes:]
    return context_lens, int(context_lens.max()) if len(context_lens) else 0


def slice_micro_batch(
    metadata: CommonAttentionMetadata, requests: slice, tokens: slice
) -> CommonAttentionMetadata:
    """Return the part of a batch that runs as one micro-batch: a range of requests and of their tokens.

    The first and the last request may be split: ``tokens`` then starts or stops inside them. The
    tokens that the next micro-batch takes of the last request are subtracted from its length and its bound.
    That happens on a clone, because the slices share memory with the whole batch. ValueError where tokens and requests do not meet.
    """
    starts = metadata.query_start_loc_cpu[requests.start : requests.stop + 1]
    first, past_first, before_last, past_last = (int(starts[i]) for i in (0, 1, -2, -1))
    starts_inside, stops_inside = first <= tokens.start < past_first, before_last < tokens.stop <= past_last
    if not (starts_inside and stops_inside and tokens.start < tokens.stop):
        raise ValueError(f"tokens: {tokens} does not start and end inside requests {requests}")

    def local(start_loc: torch.Tensor) -> torch.Tensor:
        shifted: torch.Tensor = start_loc[requests.start : requests.stop + 1] - tokens.start
        return shifted.clamp(0, tokens.stop - tokens.start)

    seq_lens = metadata.seq_lens[requests]
    bound = metadata.seq_lens_cpu_upper_bound[requests]
    if tokens_skipped := past_last - tokens.stop:
        seq_lens, bound = seq_lens.clone(), bound.clone()
        seq_lens[-1:] -= tokens_skipped
        bound[-1:] -= tokens_skipped
    return CommonAttentionMetadata(
        query_start_loc=local(metadata.query_start_loc),
        query_start_loc_cpu=local(metadata.query_start_loc_cpu),
        seq_lens=seq_lens,
        seq_lens_cpu_upper_bound=bound,
    )


def drop_rejected_tokens(
    metadata: CommonAttentionMetadata, num_rejected_tokens: NDArray[np.int32]
) -> tuple[CommonAttentionMetadata, torch.Tensor]:
    """Return the batch of the next draft step: without the draft tokens that the target model rejected.

    ``num_rejected_tokens`` (n,) is a host array; they are the last of each request. Returns the metadata
    and which of the old tokens are left, (tokens left,) int32 on the GPU. If only the GPU knows the
    rejected tokens, leave the bound as it is: still a bound. ValueError if a request would lose more
    tokens than it has.
    """
    query_lens = metadata.query_lens_cpu.numpy()
    check_counts("num_rejected_tokens", num_rejected_tokens, len(query_lens))
    if (num_rejected_tokens > query_lens).any():
        raise ValueError("num_rejected_tokens: a request has fewer tokens than that in this step")
    left = query_lens - num_rejected_tokens
    starts = np.concatenate([[0], left.cumsum()]).astype(np.int32)
    shift = metadata.query_start_loc_cpu.numpy()[:-1] - starts[:-1]
    token_indices = np.arange(starts[-1], dtype=np.int32) + np.repeat(shift, left)
    device = metadata.seq_lens.device
    kept = replace(
        metadata,
        query_start_loc=upload(starts, device),
        query_start_loc_cpu=torch.from_numpy(starts),
        seq_lens=metadata.seq_lens - upload(num_rejected_tokens.astype(np.int32), device),
        seq_lens_cpu_upper_bound=metadata.seq_lens_cpu_upper_bound
        - torch.from_numpy(num_rejected_tokens.astype(np.int32)),
    )
    return kept, upload(token_indices, device)

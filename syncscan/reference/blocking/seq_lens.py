"""Sequence lengths read back from the GPU."""

from __future__ import annotations

from dataclasses import dataclass

import torch


def sequence_length_bound(
    num_computed_tokens: torch.Tensor, num_scheduled_tokens: torch.Tensor, padded_to: int
) -> torch.Tensor:
    """Return the length of each sequence after this step, in host memory; both arguments are on the GPU."""
    seq_lens = num_computed_tokens.new_zeros(padded_to)
    seq_lens[: len(num_computed_tokens)] = num_computed_tokens + num_scheduled_tokens
    return seq_lens.cpu()  # expect: SYN105


@dataclass(frozen=True)
class CommonAttentionMetadata:
    """The metadata of a batch for every attention backend; only ``query_start_loc_cpu`` is on the host."""

    query_start_loc: torch.Tensor
    query_start_loc_cpu: torch.Tensor
    seq_lens: torch.Tensor

    @property
    def query_lens_cpu(self) -> torch.Tensor:
        """Tokens of each request in this step."""
        return self.query_start_loc_cpu[1:] - self.query_start_loc_cpu[:-1]

    @property
    def seq_lens_cpu(self) -> torch.Tensor:
        """The exact lengths in host memory."""
        return self.seq_lens.to("cpu")  # expect: SYN105

    @property
    def num_computed_tokens_cpu(self) -> torch.Tensor:
        """Tokens of each request before this step."""
        return self.seq_lens_cpu - self.query_lens_cpu  # expect: SYN501

    @property
    def max_seq_len(self) -> int:
        """The longest sequence."""
        return int(self.seq_lens.max()) if len(self.seq_lens) else 0  # expect: SYN103


def cross_attention_context(metadata: CommonAttentionMetadata) -> tuple[torch.Tensor, int]:
    """Return the tokens of each request before this step, and how many requests have any."""
    context_lens = metadata.num_computed_tokens_cpu  # expect: SYN501
    return context_lens, int((context_lens > 0).sum())


def mla_context_lens(metadata: CommonAttentionMetadata, num_decodes: int) -> tuple[torch.Tensor, int]:
    """Return the context lengths of the prefills, and the longest length."""
    context_lens = metadata.num_computed_tokens_cpu[num_decodes:]  # expect: SYN501
    return context_lens, int(context_lens.max()) if len(context_lens) else 0


def slice_micro_batch(
    metadata: CommonAttentionMetadata, requests: slice, tokens: slice
) -> tuple[CommonAttentionMetadata, torch.Tensor]:
    """Return the part of a batch that runs as one micro-batch, and its lengths in host memory."""
    start_loc = metadata.query_start_loc[requests.start : requests.stop + 1] - tokens.start
    start_loc_cpu = metadata.query_start_loc_cpu[requests.start : requests.stop + 1] - tokens.start
    length = tokens.stop - tokens.start
    seq_lens = metadata.seq_lens[requests].clone()
    seq_lens_cpu = metadata.seq_lens_cpu[requests].clone()  # expect: SYN501
    tokens_skipped = int(start_loc_cpu[-1]) - length
    seq_lens[-1:] -= tokens_skipped
    seq_lens_cpu[-1:] -= tokens_skipped
    part = CommonAttentionMetadata(start_loc.clamp(0, length), start_loc_cpu.clamp(0, length), seq_lens)
    return part, seq_lens_cpu


def drop_rejected_tokens(
    metadata: CommonAttentionMetadata, num_rejected_tokens: torch.Tensor
) -> tuple[CommonAttentionMetadata, torch.Tensor]:
    """Return the batch of the next draft step, and which of the old tokens are left."""
    rejected_cpu = num_rejected_tokens.cpu()  # expect: SYN105
    left = metadata.query_lens_cpu - rejected_cpu
    starts = torch.zeros(len(left) + 1, dtype=torch.int32)
    starts[1:] = left.cumsum(0)
    shift = metadata.query_start_loc_cpu[:-1] - starts[:-1]
    token_indices = torch.arange(int(starts[-1]), dtype=torch.int32) + shift.repeat_interleave(left)
    device = metadata.seq_lens.device
    seq_lens = metadata.seq_lens - num_rejected_tokens
    kept = CommonAttentionMetadata(starts.to(device), starts, seq_lens)  # expect: SYN302
    return kept, token_indices.to(device)  # expect: SYN302

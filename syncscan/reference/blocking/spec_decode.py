"""Attention metadata for speculative decoding with the mask on the GPU."""

from __future__ import annotations

import torch

from syncscan.reference.spec_decode import SpecDecodeMetadata, start_loc


def build_spec_decode_metadata(
    query_start_loc: torch.Tensor,
    num_draft_tokens: torch.Tensor,
    state_table: torch.Tensor,
    num_accepted_tokens: torch.Tensor,
) -> SpecDecodeMetadata:
    """Split a batch by whether its requests verify draft tokens; all arguments are on the GPU."""
    spec_masks = num_draft_tokens >= 0
    query_lens = query_start_loc.diff()
    other_lens = query_lens[~spec_masks]  # expect: SYN201
    num_decodes = (other_lens == 1).sum().item()  # expect: SYN101
    num_prefills = (other_lens > 1).sum().item()  # expect: SYN101
    num_other_tokens = other_lens.sum().item()  # expect: SYN101
    token_is_spec = torch.repeat_interleave(spec_masks, query_lens)  # expect: SYN205
    by_half = torch.argsort(token_is_spec, stable=True)
    spec_lens = query_lens[spec_masks]  # expect: SYN201
    return SpecDecodeMetadata(
        num_spec_decodes=len(spec_lens),
        num_decodes=int(num_decodes),
        num_prefills=int(num_prefills),
        spec_token_indices=by_half[int(num_other_tokens) :],
        non_spec_token_indices=by_half[: int(num_other_tokens)],
        spec_state_indices=state_table[spec_masks],  # expect: SYN201
        non_spec_state_indices=state_table[~spec_masks, 0],  # expect: SYN201
        spec_query_start_loc=start_loc(spec_lens),
        non_spec_query_start_loc=start_loc(other_lens),
        num_accepted_tokens=num_accepted_tokens[spec_masks],  # expect: SYN201
    )

"""Attention metadata for a batch in which some requests verify draft tokens (vLLM #38047).

The host knows these requests, because the scheduler put the draft tokens there. In host
memory, their mask can index GPU tensors without blocking, because the host counts the selected rows. The
same mask on the GPU blocks the host for that count at each use.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from syncscan.reference.checks import INTEGERS, check_counts, check_tensor
from syncscan.reference.uploads import upload


@dataclass(frozen=True)
class SpecDecodeMetadata:
    """The two halves of a batch: requests that verify draft tokens ("spec") and the others.

    Tensors on the GPU:

    - ``*_token_indices`` (tokens of the half,) int64: the places of its tokens in the batch;
    - ``spec_state_indices`` (spec requests, drafts + 1): the cache rows that hold their states;
    - ``non_spec_state_indices`` (other requests,): the same of the others;
    - ``*_query_start_loc`` (requests of the half + 1,) int32;
    - ``num_accepted_tokens`` (spec requests,).

    Counts are host integers; a decode has one token.
    """

    num_spec_decodes: int
    num_decodes: int
    num_prefills: int
    spec_token_indices: torch.Tensor
    non_spec_token_indices: torch.Tensor
    spec_state_indices: torch.Tensor
    non_spec_state_indices: torch.Tensor
    spec_query_start_loc: torch.Tensor
    non_spec_query_start_loc: torch.Tensor
    num_accepted_tokens: torch.Tensor


def build_spec_decode_metadata(
    query_start_loc: torch.Tensor,
    query_start_loc_cpu: NDArray[np.int32],
    num_draft_tokens: NDArray[np.int32],
    state_table: torch.Tensor,
    num_accepted_tokens: torch.Tensor,
) -> SpecDecodeMetadata:
    """Split a batch of ``n`` requests by whether they verify draft tokens.

    On the host: ``query_start_loc_cpu`` (n + 1,) and ``num_draft_tokens`` (n,), -1 for a request without
    draft tokens. On the GPU: ``query_start_loc`` (n + 1,), ``state_table`` (n, drafts + 1) and
    ``num_accepted_tokens`` (n,), integers. A torch from before pytorch #156384 (June 2025) waits for
    a mask in host memory too. ValueError and TypeError for other shapes, sides and dtypes.
    """
    device, requests = query_start_loc.device, len(num_draft_tokens)
    check_counts("query_start_loc_cpu", query_start_loc_cpu, requests + 1)
    check_counts("num_draft_tokens", num_draft_tokens, requests, least=-1)
    check_tensor("query_start_loc", query_start_loc, (requests + 1,), device, *INTEGERS)
    check_tensor("state_table", state_table, (requests, None), device, *INTEGERS)
    check_tensor("num_accepted_tokens", num_accepted_tokens, (requests,), device, *INTEGERS)

    is_spec = num_draft_tokens >= 0
    other_lens = np.diff(query_start_loc_cpu)[~is_spec]
    spec_cpu = torch.from_numpy(is_spec)
    query_lens = query_start_loc.diff()
    token_is_spec = torch.repeat_interleave(
        upload(spec_cpu, device), query_lens, output_size=int(query_start_loc_cpu[-1])
    )
    # A stable sort of the mask puts the tokens of the others first, each half in the order of the batch.
    by_half = torch.argsort(token_is_spec, stable=True)
    num_other_tokens = int(other_lens.sum())
    return SpecDecodeMetadata(
        num_spec_decodes=int(is_spec.sum()),
        num_decodes=int((other_lens == 1).sum()),
        num_prefills=int((other_lens > 1).sum()),
        spec_token_indices=by_half[num_other_tokens:],
        non_spec_token_indices=by_half[:num_other_tokens],
        spec_state_indices=state_table[spec_cpu],
        non_spec_state_indices=state_table[~spec_cpu, 0],
        spec_query_start_loc=start_loc(query_lens[spec_cpu]),
        non_spec_query_start_loc=start_loc(query_lens[~spec_cpu]),
        num_accepted_tokens=num_accepted_tokens[spec_cpu],
    )


def start_loc(query_lens: torch.Tensor) -> torch.Tensor:
    """Return the start of each request, and the end of the last one; (n + 1,) int32."""
    starts = query_lens.new_zeros(len(query_lens) + 1, dtype=torch.int32)
    torch.cumsum(query_lens, dim=0, out=starts[1:])
    return starts

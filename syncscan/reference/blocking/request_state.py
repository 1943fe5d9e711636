"""A host mirror that is advanced on its own, and drifts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray


class RequestStates:
    """Rows of up to ``max_requests`` running requests."""

    def __init__(self, max_requests: int, device: torch.device | str) -> None:
        self.row_of: dict[str, int] = {}
        self._free_rows = list(reversed(range(max_requests)))
        self.prefill_len = np.zeros(max_requests, dtype=np.int32)
        self.num_computed_tokens = np.zeros(max_requests, dtype=np.int32)
        self.last_sampled_tokens = torch.zeros(max_requests, dtype=torch.int64, device=device)

    def add_request(self, request_id: str, prefill_token_ids: Sequence[int], num_computed_tokens: int) -> int:
        """Give a request a row, and return the row."""
        row = self.row_of[request_id] = self._free_rows.pop()
        self.prefill_len[row] = len(prefill_token_ids)
        self.num_computed_tokens[row] = num_computed_tokens
        if num_computed_tokens > 0 and num_computed_tokens <= len(prefill_token_ids):
            self.last_sampled_tokens[row] = prefill_token_ids[num_computed_tokens - 1]  # expect: SYN306
        return row

    def remove_request(self, request_id: str) -> None:
        """Free the row of a request."""
        self._free_rows.append(self.row_of.pop(request_id))

    def rows(self, request_ids: Sequence[str]) -> NDArray[np.int64]:
        """Return the rows of these requests."""
        return np.array([self.row_of[request_id] for request_id in request_ids], dtype=np.int64)

    def postprocess(self, rows: NDArray[np.int64], num_scheduled_tokens: NDArray[np.int32]) -> None:
        """Advance the mirror by what was scheduled, as if every draft token were accepted."""
        self.num_computed_tokens[rows] += num_scheduled_tokens  # it drifts when drafts are rejected

    def any_prefills(self, rows: NDArray[np.int64]) -> bool:
        """Return whether any of these rows has prefill tokens left to compute."""
        return bool((self.num_computed_tokens[rows] < self.prefill_len[rows]).any())

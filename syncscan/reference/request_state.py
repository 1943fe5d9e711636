"""The host's memory of each running request between steps (vLLM #42202).

The scheduler is the source of truth for how many tokens of a request are computed: it alone learns that
draft tokens were rejected or that a request was preempted. So the mirror here is overwritten from the
scheduler's values on each update, and never advanced on its own: a mirror that adds what was scheduled
drifts upwards with each rejection, without end.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from syncscan.reference.checks import check_counts


class RequestStates:
    """Rows of up to ``max_requests`` running requests.

    In host memory, int32, (max_requests,): ``prefill_len``, ``num_computed_tokens`` and
    ``num_computed_prefill_tokens``. On ``device``: ``last_sampled_tokens``, int64, (max_requests,).
    """

    def __init__(self, max_requests: int, device: torch.device | str) -> None:
        self.row_of: dict[str, int] = {}
        self._free_rows = list(reversed(range(max_requests)))
        self.prefill_len = np.zeros(max_requests, dtype=np.int32)
        self.num_computed_tokens = np.zeros(max_requests, dtype=np.int32)
        self.num_computed_prefill_tokens = np.zeros(max_requests, dtype=np.int32)
        self.last_sampled_tokens = torch.zeros(max_requests, dtype=torch.int64, device=device)

    def add_request(self, request_id: str, prefill_token_ids: Sequence[int], num_computed_tokens: int) -> int:
        """Give a request a row, and return the row.

        ``prefill_token_ids`` are the tokens known before its first step: the prompt, and what was
        generated before a preemption. The last token that is computed already, if any, stands in for
        the last sampled token. ValueError if the request is known, or no row is free.
        """
        if request_id in self.row_of:
            raise ValueError(f"request {request_id!r} has a row already: remove it first")
        if not self._free_rows:
            raise ValueError(f"no free row for {request_id!r}: all {len(self.prefill_len)} are in use")
        row = self.row_of[request_id] = self._free_rows.pop()
        self.prefill_len[row] = len(prefill_token_ids)
        self.num_computed_tokens[row] = num_computed_tokens
        self.num_computed_prefill_tokens[row] = min(num_computed_tokens, len(prefill_token_ids))
        if 0 < num_computed_tokens <= len(prefill_token_ids):
            # A slice, not `[row] = token`: filling a view is a kernel, and storing a number blocks.
            self.last_sampled_tokens[row : row + 1] = prefill_token_ids[num_computed_tokens - 1]
        return row

    def remove_request(self, request_id: str) -> None:
        """Free the row of a request that finished or was preempted; KeyError if it has none."""
        self._free_rows.append(self.row_of.pop(request_id))

    def rows(self, request_ids: Sequence[str]) -> NDArray[np.int64]:
        """Return the rows of these requests; (n,) int64, on the host."""
        return np.fromiter(
            (self.row_of[request_id] for request_id in request_ids), np.int64, len(request_ids)
        )

    def update_requests(self, request_ids: Sequence[str], num_computed_tokens: NDArray[np.int32]) -> None:
        """Overwrite the mirror with the scheduler's counts, (n,) in the order of ``request_ids``."""
        check_counts("num_computed_tokens", num_computed_tokens, len(request_ids))
        self.num_computed_tokens[self.rows(request_ids)] = num_computed_tokens
        np.minimum(self.num_computed_tokens, self.prefill_len, out=self.num_computed_prefill_tokens)

    def is_prefilling(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether each of these rows has prefill tokens left to compute; (n,) bool, on the host."""
        return self.num_computed_prefill_tokens[rows] < self.prefill_len[rows]

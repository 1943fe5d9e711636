"""Small inputs of a step, built on the host and sent without blocking (vLLM #41429).

The runtime read numbers back from the GPU, built GPU tensors from Python lists, or stored a number through an
index. Each function here replaces one such line. All of them keep host data on the host, and send the data once
through pinned memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.distributed as dist

from syncscan.reference.checks import INTEGERS, check_tensor
from syncscan.reference.uploads import staging, upload


def compressed_token_type_ids(
    seq_lens: Sequence[int], first_of_type_one: Mapping[int, int], device: torch.device | str
) -> torch.Tensor | None:
    """Return the token type ids of all sequences end to end, (tokens,) int32 on ``device``; None if no sequence has any.

    ``seq_lens`` are host integers: of a pooling model the bound is exact. ``first_of_type_one`` gives,
    for a row of the batch, its first token of type 1; a row without an entry is all type 0.
    ValueError for a row that is not in the batch.
    """
    if not first_of_type_one:
        return None
    if bad := [row for row in first_of_type_one if not 0 <= row < len(seq_lens)]:
        raise ValueError(f"first_of_type_one: row {bad[0]} is not in a batch of {len(seq_lens)}")
    type_ids = staging((sum(seq_lens),), torch.int32, device)
    rows = [torch.arange(n) >= first_of_type_one.get(row, n) for row, n in enumerate(seq_lens)]
    torch.cat([row.int() for row in rows], out=type_ids)
    return type_ids.to(device, non_blocking=True)


class LogprobsTensors(NamedTuple):
    """Log-probabilities of chosen tokens: column 0 is the sampled token, unused places hold -inf."""

    token_ids: torch.Tensor  # (requests, 1 + most tokens asked for) int32
    logprobs: torch.Tensor  # the same shape, float32
    sampled_ranks: torch.Tensor  # (requests,) int64: how many tokens were likelier than the sampled one


def logprob_token_ids(
    wanted: Mapping[int, Sequence[int]], sampled: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the matrix of token ids to look up, int64, and the mask of its valid places, bool.

    ``wanted`` holds the token ids that a row of the batch asks for. ``sampled`` (requests,) int64 is on
    the GPU and becomes column 0 there, without a download. ValueError for a row not in the batch.
    """
    check_tensor("sampled", sampled, (None,), sampled.device, torch.int64)
    if bad := [row for row in wanted if not 0 <= row < len(sampled)]:
        raise ValueError(f"wanted: row {bad[0]} is not in a batch of {len(sampled)}")
    shape = (len(sampled), 1 + max(map(len, wanted.values()), default=0))
    token_ids_cpu = staging(shape, torch.int64, sampled.device)
    valid_cpu = staging(shape, torch.bool, sampled.device)
    valid_cpu[:, 0] = True
    for row, ids in wanted.items():
        token_ids_cpu[row, 1 : 1 + len(ids)] = torch.tensor(ids, dtype=torch.int64)
        valid_cpu[row, 1 : 1 + len(ids)] = True
    token_ids = token_ids_cpu.to(sampled.device, non_blocking=True)
    valid = valid_cpu.to(sampled.device, non_blocking=True)
    token_ids[:, 0] = sampled
    return token_ids, valid


def gather_logprobs(
    logits: torch.Tensor, wanted: Mapping[int, Sequence[int]], sampled: torch.Tensor
) -> LogprobsTensors | None:
    """Return log-probabilities of the sampled and the wanted tokens; None if no row wants any.

    ``logits`` is (requests, vocabulary), ``sampled`` (requests,) int64 on the same device.
    """
    check_tensor("logits", logits, (len(sampled), None), sampled.device, torch.float32)
    if not wanted:
        return None
    token_ids, valid = logprob_token_ids(wanted, sampled)
    logprobs = logits.log_softmax(-1).gather(-1, token_ids).masked_fill(~valid, float("-inf"))
    ranks = (logits > logits.gather(-1, sampled.unsqueeze(-1))).sum(-1)
    return LogprobsTensors(token_ids.int(), logprobs, ranks)


def all_reduce_counts(
    counts: Sequence[int],
    rank: int,
    ranks: int,
    device: torch.device | str,
    group: dist.ProcessGroup | None = None,
) -> torch.Tensor:
    """Tell all data-parallel ranks each other's counts with one all-reduce; (len(counts), ranks) int32.

    This rank fills its column on the host and sends the whole. ValueError for a rank out of range.
    """
    if not 0 <= rank < ranks:
        raise ValueError(f"rank: expected 0 to {ranks - 1}, got {rank}")
    contribution_cpu = staging((len(counts), ranks), torch.int32, device)
    contribution_cpu[:, rank] = torch.tensor(counts, dtype=torch.int32)
    contribution = contribution_cpu.to(device, non_blocking=True)
    dist.all_reduce(contribution, group=group)
    return contribution


def reorder_ngram_rows(
    tables: Sequence[torch.Tensor], row_before: Mapping[str, int], request_ids: Sequence[str]
) -> None:
    """Move the rows of an n-gram proposer's tables, in place, to where their requests are now.

    ``tables`` are (rows, ...) on one device; a request's row was ``row_before[id]``, and is now its place
    in ``request_ids``. Rows of new requests stay as they are, to be written by the caller.
    """
    moves = [(row_before.get(request_id, row), row) for row, request_id in enumerate(request_ids)]
    moves = [(before, now) for before, now in moves if before != now]
    if not moves or not tables:
        return
    before, now = upload(list(zip(*moves, strict=True)), tables[0].device, torch.int64)
    for table in tables:
        table[now] = table[before]


def count_penalty_bins(
    prompt_counts: torch.Tensor,
    output_counts: torch.Tensor,
    rows: torch.Tensor,
    *,
    token_ids: torch.Tensor,
    prompt_lens: torch.Tensor,
    total_lens: torch.Tensor,
) -> None:
    """Count anew, in place, how often each token occurs in the prompts and outputs of some requests.

    Both tables are (max requests, vocabulary) int32. ``rows`` (n,) int64 says which rows of them to
    count. ``token_ids`` (n, longest) int64 is padded with any valid token. ``prompt_lens`` and
    ``total_lens`` (n,) say where prompt and output end. All are on one device.
    """
    device, requests = output_counts.device, len(rows)
    check_tensor("output_counts", output_counts, (None, None), device, torch.int32)
    check_tensor("prompt_counts", prompt_counts, tuple(output_counts.shape), device, torch.int32)
    check_tensor("rows", rows, (None,), device, torch.int64)
    check_tensor("token_ids", token_ids, (requests, None), device, torch.int64)
    check_tensor("prompt_lens", prompt_lens, (requests,), device, *INTEGERS)
    check_tensor("total_lens", total_lens, (requests,), device, *INTEGERS)

    prompt_counts.index_fill_(0, rows, 0)
    output_counts.index_fill_(0, rows, 0)
    places = torch.arange(token_ids.shape[1], device=device)
    in_prompt = places < prompt_lens.unsqueeze(1)
    in_output = (places < total_lens.unsqueeze(1)) & ~in_prompt
    bins = (rows.unsqueeze(1).expand_as(token_ids), token_ids)
    prompt_counts.index_put_(bins, in_prompt.int(), accumulate=True)
    output_counts.index_put_(bins, in_output.int(), accumulate=True)


def pad_logits_indices(logits_indices: torch.Tensor, buffer: torch.Tensor, padded_to: int) -> torch.Tensor:
    """Repeat the last index up to ``padded_to`` places of a fixed buffer, as a CUDA graph needs it.

    ``logits_indices`` (n,) and ``buffer`` (capacity,) are int32 or int64 on one device, n at least 1.
    Returns a view of the buffer, (padded_to,). ValueError where n <= padded_to <= capacity is not so.
    """
    check_tensor("buffer", buffer, (None,), logits_indices.device, *INTEGERS)
    check_tensor("logits_indices", logits_indices, (None,), buffer.device, buffer.dtype)
    used = len(logits_indices)
    if not 1 <= used <= padded_to <= len(buffer):
        raise ValueError(f"padded_to: expected {max(used, 1)} to {len(buffer)}, got {padded_to}")
    buffer[:used] = logits_indices
    buffer[used:padded_to] = logits_indices[-1:]
    return buffer[:padded_to]


def apply_bad_words(
    logits: torch.Tensor, bad_words: Mapping[int, Sequence[Sequence[int]]], output: Sequence[Sequence[int]]
) -> None:
    """Forbid, in place, each token that would complete a bad word.

    ``logits`` is (requests, vocabulary) float on the GPU. ``bad_words`` gives for a row its words, each a
    sequence of one or more token ids. ``output`` has the tokens that each row has generated. Both are on the host.
    """
    check_tensor("logits", logits, (len(output), None), logits.device)
    banned = [
        (row, word[-1])
        for row, words in bad_words.items()
        for word in words
        if ends_with(output[row], word[:-1])
    ]
    if banned:
        rows, columns = upload(list(zip(*banned, strict=True)), logits.device, torch.int64)
        logits.index_put_((rows, columns), logits.new_full((), float("-inf")))


def ends_with(tokens: Sequence[int], ending: Sequence[int]) -> bool:
    """Return whether the last tokens are these; any tokens end with none."""
    start = len(tokens) - len(ending)
    return start >= 0 and list(tokens[start:]) == list(ending)


@dataclass(frozen=True)
class MambaMetadata:
    """The shape of a batch, decodes first, as the host knows it. Made once per step, read by each layer."""

    num_decodes: int  # requests of one token
    prefill_lens: tuple[int, ...]  # tokens of each of the requests after them


class MambaMixer(torch.nn.Module):
    """The control flow of a state-space layer; its kernels are a gated running sum here.

    Splits a batch into decodes and prefills by the metadata handed down to it: a layer that reads the
    counts back from ``query_start_loc`` waits once or twice in each of the model's layers.
    """

    def __init__(self, width: int, device: torch.device | str) -> None:
        super().__init__()
        self.gate = torch.nn.Parameter(torch.ones(width, device=device))

    def forward(self, hidden: torch.Tensor, state: torch.Tensor, metadata: MambaMetadata) -> torch.Tensor:
        """Return (tokens, width), and advance ``state`` (requests, width) in place.

        ``hidden`` (tokens, width) and ``state`` are on one device; ValueError where the metadata does
        not describe them.
        """
        decodes, lens = metadata.num_decodes, list(metadata.prefill_lens)
        check_tensor("hidden", hidden, (decodes + sum(lens), len(self.gate)), self.gate.device)
        check_tensor("state", state, (decodes + len(lens), len(self.gate)), self.gate.device)
        outputs = [state[:decodes] + self.gate * hidden[:decodes]]
        prefills = torch.split(hidden[decodes:], lens) if lens else ()
        for prefill, before in zip(prefills, state[decodes:], strict=True):
            outputs.append(before + (self.gate * prefill).cumsum(0))
        state.copy_(torch.cat([outputs[0], *(out[-1:] for out in outputs[1:])]))
        return torch.cat(outputs)

"""Small inputs of a step, built on the GPU from Python data or read back from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
import torch.distributed as dist

from syncscan.reference.step_inputs import LogprobsTensors, ends_with


def compressed_token_type_ids(
    seq_lens: torch.Tensor, first_of_type_one: Mapping[int, int]
) -> torch.Tensor | None:
    """Return the token type ids of all sequences end to end; ``seq_lens`` is on the GPU."""
    if not first_of_type_one:
        return None
    rows = []
    for row in range(len(seq_lens)):
        tokens = torch.arange(seq_lens[row], device=seq_lens.device)  # type: ignore[call-overload]  # expect: SYN106
        rows.append((tokens >= first_of_type_one.get(row, seq_lens[row])).int())
    return torch.cat(rows)


def logprob_token_ids(
    wanted: Mapping[int, Sequence[int]], sampled: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the matrix of token ids to look up, and the mask of its valid places."""
    shape = (len(sampled), 1 + max(map(len, wanted.values()), default=0))
    token_ids = torch.zeros(shape, dtype=torch.int64, device=sampled.device)
    valid = torch.zeros(shape, dtype=torch.bool, device=sampled.device)
    token_ids[:, 0] = sampled
    valid[:, 0] = True
    for row, ids in wanted.items():
        token_ids[row, 1 : 1 + len(ids)] = torch.tensor(ids, dtype=torch.int64)  # expect: SYN307
        valid[row, 1 : 1 + len(ids)] = True
    return token_ids, valid


def gather_logprobs(
    logits: torch.Tensor, wanted: Mapping[int, Sequence[int]], sampled: torch.Tensor
) -> LogprobsTensors | None:
    """Return log-probabilities of the sampled and the wanted tokens."""
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
    """Tell all data-parallel ranks each other's counts with one all-reduce."""
    contribution = torch.zeros((len(counts), ranks), dtype=torch.int32, device=device)
    for i, count in enumerate(counts):
        contribution[i][rank] = count  # expect: SYN306
    dist.all_reduce(contribution, group=group)
    return contribution


def reorder_ngram_rows(
    tables: Sequence[torch.Tensor], row_before: Mapping[str, int], request_ids: Sequence[str]
) -> None:
    """Move the rows of an n-gram proposer's tables, in place, to where their requests are now."""
    moves = [(row_before.get(request_id, row), row) for row, request_id in enumerate(request_ids)]
    moves = [(before, now) for before, now in moves if before != now]
    if not moves or not tables:
        return
    device = tables[0].device
    before = torch.tensor([move[0] for move in moves], device=device)  # expect: SYN301
    now = torch.tensor([move[1] for move in moves], device=device)  # expect: SYN301
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
    """Count anew, in place, how often each token occurs in the prompts and outputs of some requests."""
    prompt_counts[rows] = 0  # expect: SYN306
    output_counts[rows] = 0  # expect: SYN306
    places = torch.arange(token_ids.shape[1], device=token_ids.device)
    in_prompt = places < prompt_lens.unsqueeze(1)
    in_output = (places < total_lens.unsqueeze(1)) & ~in_prompt
    bins = (rows.unsqueeze(1).expand_as(token_ids), token_ids)
    prompt_counts.index_put_(bins, in_prompt.int(), accumulate=True)
    output_counts.index_put_(bins, in_output.int(), accumulate=True)


def pad_logits_indices(logits_indices: torch.Tensor, buffer: torch.Tensor, padded_to: int) -> torch.Tensor:
    """Repeat the last index up to ``padded_to`` places of a fixed buffer."""
    used = len(logits_indices)
    buffer[:used] = logits_indices
    buffer[used:padded_to].fill_(logits_indices[-1].item())  # expect: SYN101
    return buffer[:padded_to]


def apply_bad_words(
    logits: torch.Tensor, bad_words: Mapping[int, Sequence[Sequence[int]]], output: Sequence[Sequence[int]]
) -> None:
    """Forbid, in place, each token that would complete a bad word."""
    banned = [
        (row, word[-1])
        for row, words in bad_words.items()
        for word in words
        if ends_with(output[row], word[:-1])
    ]
    if banned:
        rows = torch.tensor([place[0] for place in banned], device=logits.device)  # expect: SYN301
        columns = torch.tensor([place[1] for place in banned], device=logits.device)  # expect: SYN301
        logits[rows, columns] = float("-inf")  # expect: SYN306


class MambaMixer(torch.nn.Module):
    """A layer that reads the shape of its batch back from the GPU."""

    def __init__(self, width: int, device: torch.device | str) -> None:
        super().__init__()
        self.gate = torch.nn.Parameter(torch.ones(width, device=device))

    def forward(
        self, hidden: torch.Tensor, state: torch.Tensor, query_start_loc: torch.Tensor
    ) -> torch.Tensor:
        """Return (tokens, width), and advance ``state`` (requests, width) in place."""
        query_lens = query_start_loc.diff()
        decodes = int((query_lens == 1).sum())  # expect: SYN103
        lens = query_lens[decodes:].tolist()  # expect: SYN102
        outputs = [state[:decodes] + self.gate * hidden[:decodes]]
        prefills = torch.split(hidden[decodes:], lens) if lens else ()
        for prefill, before in zip(prefills, state[decodes:], strict=True):
            outputs.append(before + (self.gate * prefill).cumsum(0))
        state.copy_(torch.cat([outputs[0], *(out[-1:] for out in outputs[1:])]))
        return torch.cat(outputs)

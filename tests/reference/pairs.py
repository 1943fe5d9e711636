"""Each component beside its blocking twin, on the same batch: for the tests and for the benchmark.

A pair is two functions without arguments that give equal results and may be called again and again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

import syncscan.reference.blocking.chunks as chunks_before
import syncscan.reference.blocking.request_state as request_state_before
import syncscan.reference.blocking.seq_lens as seq_lens_before
import syncscan.reference.blocking.spec_decode as spec_decode_before
import syncscan.reference.blocking.step_inputs as step_inputs_before
import syncscan.reference.blocking.uploads as uploads_before
from syncscan.reference import chunks, request_state, seq_lens, spec_decode, step_inputs, uploads

Call = Callable[[], Any]
VOCABULARY = 64


@dataclass(frozen=True)
class Batch:
    """One step: a host array of one entry for each request, those with one token first."""

    computed: np.ndarray  # tokens before this step
    scheduled: np.ndarray  # tokens of this step
    drafts: np.ndarray  # draft tokens among them, -1 where the request has none
    rejected: np.ndarray  # how many of the drafts of the previous step were rejected
    padding: int = 0
    split: int = 0  # the first token of the second micro-batch

    @classmethod
    def of(cls, requests: list[tuple[int, int, int, int]], padding: int = 0, split: int = 0) -> Batch:
        """From (computed, scheduled, drafts, rejected) of each request, in any order."""
        rows = sorted(requests, key=lambda request: request[1] > 1)
        columns = np.array(rows, dtype=np.int32).reshape(-1, 4).T
        return cls(*(column.copy() for column in columns), padding, split)

    def __len__(self) -> int:
        return len(self.computed)

    @property
    def start_loc(self) -> np.ndarray:
        return np.concatenate([[0], self.scheduled.cumsum()]).astype(np.int32)

    @property
    def num_decodes(self) -> int:
        return int((self.scheduled == 1).sum())

    @property
    def lens(self) -> np.ndarray:
        return self.computed + self.scheduled


@dataclass(frozen=True)
class Pair:
    name: str
    report: str
    waits: int  # how often the blocking form makes the host wait on STANDARD
    make: Callable[[Batch, torch.device], tuple[Call, Call]]  # the blocking form, the sync-free form
    needs_requests: bool = False


# Three decodes, two requests that verify drafts, three prefills.
STANDARD = Batch.of(
    [
        *[(9, 1, -1, 0), (200, 1, -1, 0), (31, 1, -1, 0)],
        *[(70, 4, 3, 2), (8, 3, 2, 0)],
        *[(0, 130, -1, 0), (64, 64, -1, 0), (128, 5, -1, 0)],
    ],
    split=40,
)

PAIRS: list[Pair] = []


def pair(report: str, waits: int, needs_requests: bool = False) -> Callable[[Any], Any]:
    def add(make: Callable[[Batch, torch.device], tuple[Call, Call]]) -> Any:
        PAIRS.append(Pair(make.__name__, report, waits, make, needs_requests))
        return make

    return add


def on(device: torch.device, array: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(array)).to(device)


def ramp(device: torch.device, *shape: int) -> torch.Tensor:
    """Small whole numbers as float32, so that sums are exact in any order."""
    return (torch.arange(int(np.prod(shape)), device=device) % 7).float().reshape(shape)


@pair("#41429", waits=1)
def upload(batch: Batch, device: torch.device) -> tuple[Call, Call]:
    data = batch.lens.tolist()
    return (
        lambda: uploads_before.upload(data, device, torch.int32),
        lambda: uploads.upload(data, device, torch.int32),
    )


@pair("#40654", waits=1)
def sequence_length_bound(batch: Batch, device: torch.device) -> tuple[Call, Call]:
    computed, scheduled = on(device, batch.computed), on(device, batch.scheduled)
    padded_to = len(batch) + batch.padding
    return (
        lambda: seq_lens_before.sequence_length_bound(computed, scheduled, padded_to),
        lambda: seq_lens.sequence_length_bound(batch.computed, batch.scheduled, padded_to),
    )


def metadata_of(
    batch: Batch, device: torch.device
) -> tuple[seq_lens_before.CommonAttentionMetadata, seq_lens.CommonAttentionMetadata]:
    start_loc, lens = on(device, batch.start_loc), on(device, batch.lens)
    start_loc_cpu = torch.from_numpy(batch.start_loc)
    bound = seq_lens.sequence_length_bound(batch.computed, batch.scheduled, len(batch))
    return (
        seq_lens_before.CommonAttentionMetadata(start_loc, start_loc_cpu, lens),
        seq_lens.CommonAttentionMetadata(start_loc, start_loc_cpu, lens, bound),
    )


@pair("#40654", waits=1)
def max_seq_len(batch: Batch, device: torch.device) -> tuple[Call, Call]:
    before, after = metadata_of(batch, device)
    return lambda: before.max_seq_len, lambda: after.max_seq_len


@pair("#40654", waits=1)
def cross_attention_context(batch: Batch, device: torch.device) -> tuple[Call, Call]:
    before, after = metadata_of(batch, device)
    return (
        lambda: seq_lens_before.cross_attention_context(before),
        lambda: seq_lens.cross_attention_context(after),
    )


@pair("#40654", waits=1)
def mla_context_lens(batch: Batch, device: torch.device) -> tuple[Call, Call]:
    before, after = metadata_of(batch, device)
    return (
        lambda: seq_lens_before.mla_context_lens(before, batch.num_decodes),
        lambda: seq_lens.mla_context_lens(after, batch.num_decodes),
    )


def micro_batches(batch: Batch) -> list[tuple[slice, slice]]:
    """The requests and tokens of both halves, either of which may be missing."""
    total = int(batch.start_loc[-1])
    halves = [(0, min(batch.split, total)), (min(batch.split, total), total)]
    return [
        (
            slice(
                int(np.searchsorted(batch.start_loc, start, side="right")) - 1,
                int(np.searchsorted(batch.start_loc, stop, side="left")),
            ),
            slice(start, stop),
        )
        for start, stop in halves
        if start < stop
    ]


@pair("#40654", waits=2, needs_requests=True)
def slice_micro_batch(batch: Batch, device: torch.device) -> tuple[Call, Call]:
    before, after = metadata_of(batch, device)
    halves = micro_batches(batch)

    def blocking() -> Any:
        parts = [seq_lens_before.slice_micro_batch(before, *half) for half in halves]
        return [(part.query_start_loc, part.query_start_loc_cpu, part.seq_lens, cpu) for part, cpu in parts]

    def sync_free() -> Any:
        parts = [seq_lens.slice_micro_batch(after, *half) for half in halves]
        return [
            (part.query_start_loc, part.query_start_loc_cpu, part.seq_lens, part.seq_lens_cpu_upper_bound)
            for part in parts
        ]

    return blocking, sync_free


@pair("#40654", waits=3)
def drop_rejected_tokens(batch: Batch, device: torch.device) -> tuple[Call, Call]:
    before, after = metadata_of(batch, device)
    rejected = np.minimum(batch.rejected, batch.scheduled)
    rejected_gpu = on(device, rejected)

    def blocking() -> Any:
        kept, tokens = seq_lens_before.drop_rejected_tokens(before, rejected_gpu)
        return kept.query_start_loc, kept.query_start_loc_cpu, kept.seq_lens, tokens

    def sync_free() -> Any:
        kept, tokens = seq_lens.drop_rejected_tokens(after, rejected)
        return kept.query_start_loc, kept.query_start_loc_cpu, kept.seq_lens, tokens

    return blocking, sync_free


@pair("#42202", waits=1)
def add_request(batch: Batch, device: torch.device) -> tuple[Call, Call]:
    def call(module: Any) -> Call:
        states = module.RequestStates(4, device)

        def add() -> Any:
            states.add_request("r", [11, 12, 13], 2)
            states.remove_request("r")
            return states.last_sampled_tokens

        return add

    return call(request_state_before), call(request_state)


@pair("#41429", waits=8)
def compressed_token_type_ids(batch: Batch, device: torch.device) -> tuple[Call, Call]:
    lens = on(device, batch.lens)
    first = {row: int(n) // 2 for row, n in enumerate(batch.lens) if row % 3 == 0}
    return (
        lambda: step_inputs_before.compressed_token_type_ids(lens, first),
        lambda: step_inputs.compressed_token_type_ids(batch.lens.tolist(), first, device),
    )


@pair("#41429", waits=4)
def gather_logprobs(batch: Batch, device: torch.device) -> tuple[Call, Call]:
    logits = ramp(device, len(batch), VOCABULARY)
    sampled = torch.arange(len(batch), device=device)
    wanted = {row: list(range(row, row + 1 + row % 3)) for row in range(0, len(batch), 2)}
    return (
        lambda: step_inputs_before.gather_logprobs(logits, wanted, sampled),
        lambda: step_inputs.gather_logprobs(logits, wanted, sampled),
    )


@pair("#41429", waits=2)
def all_reduce_counts(batch: Batch, device: torch.device) -> tuple[Call, Call]:
    counts = [len(batch), int(batch.start_loc[-1])]
    return (
        lambda: step_inputs_before.all_reduce_counts(counts, 1, 4, device),
        lambda: step_inputs.all_reduce_counts(counts, 1, 4, device),
    )


@pair("#41429", waits=2)
def reorder_ngram_rows(batch: Batch, device: torch.device) -> tuple[Call, Call]:
    tables = [ramp(device, len(batch), 5), torch.arange(len(batch), device=device)]
    ids = [f"request {row}" for row in range(len(batch))]
    row_before = dict(zip(ids, range(len(batch)), strict=True))
    now = ["new", *reversed(ids[1:])] if ids else []

    def call(module: Any) -> Call:
        def reorder() -> Any:
            moved = [table.clone() for table in tables]
            module.reorder_ngram_rows(moved, row_before, now)
            return moved

        return reorder

    return call(step_inputs_before), call(step_inputs)


@pair("#41429", waits=2)
def count_penalty_bins(batch: Batch, device: torch.device) -> tuple[Call, Call]:
    rows = torch.arange(len(batch), device=device) * 2
    longest = int(batch.lens.max(initial=0))
    tokens = ramp(device, len(batch), longest).long()
    prompt_lens, total_lens = on(device, batch.computed), on(device, batch.lens)

    def call(module: Any) -> Call:
        prompt = torch.ones(2 * len(batch) + 1, VOCABULARY, dtype=torch.int32, device=device)
        output = torch.ones_like(prompt)

        def count() -> Any:
            module.count_penalty_bins(
                prompt, output, rows, token_ids=tokens, prompt_lens=prompt_lens, total_lens=total_lens
            )
            return prompt, output

        return count

    return call(step_inputs_before), call(step_inputs)


@pair("#41429", waits=1, needs_requests=True)
def pad_logits_indices(batch: Batch, device: torch.device) -> tuple[Call, Call]:
    indices = on(device, batch.start_loc[1:] - 1)
    padded_to = len(batch) + batch.padding

    def call(module: Any) -> Call:
        buffer = torch.zeros(padded_to + 3, dtype=torch.int32, device=device)
        return lambda: module.pad_logits_indices(indices, buffer, padded_to)

    return call(step_inputs_before), call(step_inputs)


@pair("#41429", waits=3)
def apply_bad_words(batch: Batch, device: torch.device) -> tuple[Call, Call]:
    output = [list(range(row % 4)) for row in range(len(batch))]
    bad_words = {row: [[7], [0, 1, 9], [2, 5]] for row in range(0, len(batch), 2)}
    if len(batch) > 3:
        bad_words[3] = [[1, 2, 20], [0, 1, 2, 2, 9], [5, 21]]

    def call(module: Any) -> Call:
        def apply() -> Any:
            logits = ramp(device, len(batch), VOCABULARY)
            module.apply_bad_words(logits, bad_words, output)
            return logits

        return apply

    return call(step_inputs_before), call(step_inputs)


@pair("#41429", waits=2)
def mamba_mixer(batch: Batch, device: torch.device) -> tuple[Call, Call]:
    hidden, state = ramp(device, int(batch.start_loc[-1]), 4), ramp(device, len(batch), 4)
    start_loc = on(device, batch.start_loc)
    prefill_lens = tuple(batch.scheduled[batch.num_decodes :].tolist())
    metadata = step_inputs.MambaMetadata(batch.num_decodes, prefill_lens)

    def call(module: Any, argument: Any) -> Call:
        mixer = module.MambaMixer(4, device)

        @torch.no_grad()
        def mix() -> Any:
            after = state.clone()
            return mixer(hidden, after, argument), after

        return mix

    return call(step_inputs_before, start_loc), call(step_inputs, metadata)


@pair("#38361", waits=2)
def chunked_cumsum(batch: Batch, device: torch.device) -> tuple[Call, Call]:
    values = ramp(device, int(batch.start_loc[-1]), 3)
    cu_seqlens = on(device, batch.start_loc)

    def blocking() -> Any:
        return chunks_before.chunked_cumsum(values, cu_seqlens.clone())  # new lengths each step

    def sync_free() -> Any:
        tables = chunks.prepare_chunks(batch.start_loc, device)
        return chunks.chunked_cumsum(values, cu_seqlens, tables)

    return blocking, sync_free


@pair("#38047", waits=10)
def build_spec_decode_metadata(batch: Batch, device: torch.device) -> tuple[Call, Call]:
    start_loc, drafts = on(device, batch.start_loc), on(device, batch.drafts)
    state_table = torch.arange(4 * len(batch), device=device).reshape(len(batch), 4)
    accepted = torch.arange(len(batch), device=device)
    return (
        lambda: spec_decode_before.build_spec_decode_metadata(start_loc, drafts, state_table, accepted),
        lambda: spec_decode.build_spec_decode_metadata(
            start_loc, batch.start_loc, batch.drafts, state_table, accepted
        ),
    )


@contextlib.contextmanager
def process_group(device: torch.device) -> Iterator[None]:
    """A group of this process alone, for the all-reduce."""
    backend, own = ("nccl", device) if device.type == "cuda" else ("gloo", None)
    dist.init_process_group(backend, store=dist.HashStore(), rank=0, world_size=1, device_id=own)
    try:
        yield
    finally:
        dist.destroy_process_group()

"""What the components promise beside equality with their blocking form: results, errors, fallbacks."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import torch
import torch.distributed as dist

from syncscan.reference import chunks, seq_lens, spec_decode, step_inputs, uploads
from tests.reference.pairs import STANDARD, Batch, metadata_of

CPU = torch.device("cpu")
META = torch.device("meta")


def ints(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int32)


# uploads


def test_upload_copies_so_that_the_source_may_change() -> None:
    for source in (np.arange(3), torch.arange(3)):
        sent = uploads.upload(source, "cpu")
        source[0] = 9
        assert sent.tolist() == [0, 1, 2]


def test_upload_takes_nested_lists_and_a_dtype() -> None:
    assert torch.equal(uploads.upload([[1, 2], [3, 4]], "cpu", torch.int32), torch.tensor([[1, 2], [3, 4]]))
    assert uploads.upload([1], "cpu", torch.int32).dtype is torch.int32
    assert uploads.upload([], "cpu", torch.int64).shape == (0,)


def test_upload_refuses_what_is_not_in_host_memory() -> None:
    with pytest.raises(ValueError, match="expected data in host memory, got a tensor on meta"):
        uploads.upload(torch.empty(2, device=META), "cpu")


def test_nothing_is_pinned_where_that_is_impossible_or_useless() -> None:
    assert not uploads.staging((2,), torch.int32, "cpu").is_pinned()
    if not torch.cuda.is_available():
        assert not uploads.can_pin()
        assert not uploads.staging((2,), torch.int32, "cuda").is_pinned()


# sequence lengths


def test_the_exact_lengths_are_still_there_deprecated() -> None:
    _, metadata = metadata_of(STANDARD, CPU)
    with pytest.deprecated_call(match="blocks the CPU: use seq_lens_cpu_upper_bound"):
        assert metadata.seq_lens_cpu.tolist() == STANDARD.lens.tolist()


def test_micro_batches_leave_the_whole_batch_as_it_was() -> None:
    _, metadata = metadata_of(Batch.of([(5, 10, -1, 0)]), CPU)
    first = seq_lens.slice_micro_batch(metadata, slice(0, 1), slice(0, 4))
    second = seq_lens.slice_micro_batch(metadata, slice(0, 1), slice(4, 10))
    assert (first.max_seq_len, second.max_seq_len) == (9, 15)
    assert first.query_start_loc.tolist() == [0, 4]
    assert second.query_start_loc.tolist() == [0, 6]
    assert metadata.seq_lens.tolist() == metadata.seq_lens_cpu_upper_bound.tolist() == [15]


@pytest.mark.parametrize("tokens", [slice(0, 11), slice(2, 2), slice(10, 12)])
def test_a_micro_batch_has_to_fit_its_requests(tokens: slice) -> None:
    _, metadata = metadata_of(Batch.of([(5, 10, -1, 0), (0, 5, -1, 0)]), CPU)
    with pytest.raises(ValueError, match="does not start and end inside requests"):
        seq_lens.slice_micro_batch(metadata, slice(0, 1), tokens)


def test_rejected_tokens_come_off_the_bound() -> None:
    _, metadata = metadata_of(Batch.of([(5, 4, 3, 0), (7, 3, 2, 0)]), CPU)
    kept, tokens = seq_lens.drop_rejected_tokens(metadata, ints(2, 0))
    assert kept.seq_lens_cpu_upper_bound.tolist() == kept.seq_lens.tolist() == [7, 10]
    assert kept.query_start_loc.tolist() == [0, 2, 5]
    assert tokens.tolist() == [0, 1, 4, 5, 6]


def test_sequence_length_errors() -> None:
    _, metadata = metadata_of(STANDARD, CPU)
    with pytest.raises(ValueError, match="padded_to: expected at least 2, got 1"):
        seq_lens.sequence_length_bound(ints(1, 2), ints(1, 1), 1)
    with pytest.raises(ValueError, match="num_computed_tokens: expected no value below 0, got -1"):
        seq_lens.sequence_length_bound(ints(-1), ints(1), 1)
    with pytest.raises(
        TypeError, match="num_scheduled_tokens: expected a NumPy array of integers, got float"
    ):
        seq_lens.sequence_length_bound(ints(1), np.ones(1), 1)
    with pytest.raises(ValueError, match="num_decodes: expected 0 to 8, got 9"):
        seq_lens.mla_context_lens(metadata, 9)
    with pytest.raises(ValueError, match="a request has fewer tokens than that"):
        seq_lens.drop_rejected_tokens(metadata, STANDARD.scheduled + 1)


@pytest.mark.parametrize(
    ("field", "value", "error", "message"),
    [
        (
            "query_start_loc",
            torch.zeros(2, dtype=torch.int32),
            ValueError,
            r"expected shape \(9,\), got \(2,\)",
        ),
        ("seq_lens", torch.zeros(8), TypeError, "seq_lens: expected torch.int32, got torch.float32"),
        ("seq_lens", torch.zeros(8, dtype=torch.int32, device=META), ValueError, "on meta, got cpu"),
        (
            "seq_lens_cpu_upper_bound",
            torch.zeros(8, dtype=torch.int32, device=META),
            ValueError,
            "expected a tensor on cpu, got meta",
        ),
        ("query_start_loc_cpu", [0, 1], TypeError, "query_start_loc_cpu: expected a tensor, got list"),
    ],
)
def test_metadata_refuses_wrong_shapes_sides_and_dtypes(
    field: str, value: object, error: type[Exception], message: str
) -> None:
    _, metadata = metadata_of(STANDARD, CPU)
    with pytest.raises(error, match=message):
        seq_lens.CommonAttentionMetadata(**{**vars(metadata), field: value})


# chunks


def test_tables_name_the_sequence_and_the_number_of_each_chunk() -> None:
    tables = chunks.prepare_chunks(ints(0, 130, 130, 131), "cpu")
    assert tables.indices.tolist() == [[0, 0], [0, 1], [0, 2], [2, 0]]
    assert tables.offsets.tolist() == [0, 3, 3, 4]


def test_an_operator_without_tables_computes_them() -> None:
    values, cu_seqlens = torch.ones(70, 1), ints(0, 65, 70)
    alone = chunks.chunked_cumsum(values, torch.from_numpy(cu_seqlens))
    handed = chunks.chunked_cumsum(
        values, torch.from_numpy(cu_seqlens), chunks.prepare_chunks(cu_seqlens, "cpu")
    )
    assert alone.flatten().tolist() == handed.flatten().tolist() == [*range(1, 66), *range(1, 6)]


def test_every_operator_of_the_chain_may_be_called_without_tables() -> None:
    values, cu_seqlens = torch.ones(70, 1), ints(0, 65, 70)
    tables, lengths = chunks.prepare_chunks(cu_seqlens, "cpu"), torch.from_numpy(cu_seqlens)
    alone, handed = chunks.cumsum_in_chunks(values, lengths), chunks.cumsum_in_chunks(values, lengths, tables)
    assert torch.equal(alone[0], handed[0])
    assert chunks.carry_over_chunks(values, lengths, alone[1]).flatten().tolist() == [0, 64, 0]
    assert chunks.carry_over_chunks(values, lengths, handed[1], tables).flatten().tolist() == [0, 64, 0]


def test_a_step_without_prefills_makes_no_tables() -> None:
    assert chunks.prefill_chunks(ints(0, 1), 0, "cpu") is None
    assert chunks.prefill_chunks(ints(0, 9), 1, "cpu") is not None


@pytest.mark.parametrize("bad", [ints(), ints(1, 2), ints(0, 5, 3)], ids=["none", "start", "falling"])
def test_lengths_that_are_not_cumulative_are_refused(bad: np.ndarray) -> None:
    with pytest.raises(ValueError, match="cu_seqlens: expected cumulative lengths"):
        chunks.prepare_chunks(bad, "cpu")


def test_chunk_errors() -> None:
    with pytest.raises(ValueError, match=r"values: expected shape \(\*, \*\), got \(3,\)"):
        chunks.chunked_cumsum(torch.zeros(3), torch.zeros(2, dtype=torch.int32))
    with pytest.raises(
        TypeError, match=r"cu_seqlens: expected torch\.int32 or torch.int64, got torch.float32"
    ):
        chunks.chunked_cumsum(torch.zeros(3, 1), torch.zeros(2))


# speculative decoding


def test_a_batch_is_split_by_who_verifies_drafts() -> None:
    batch = Batch.of([(9, 1, -1, 0), (5, 3, 2, 0), (0, 4, -1, 0)])
    built = spec_decode.build_spec_decode_metadata(
        torch.from_numpy(batch.start_loc),
        batch.start_loc,
        batch.drafts,
        torch.arange(9).reshape(3, 3),
        torch.tensor([1, 2, 1]),
    )
    assert (built.num_spec_decodes, built.num_decodes, built.num_prefills) == (1, 1, 1)
    assert built.spec_token_indices.tolist() == [1, 2, 3]
    assert built.non_spec_token_indices.tolist() == [0, 4, 5, 6, 7]
    assert built.spec_state_indices.tolist() == [[3, 4, 5]]
    assert built.non_spec_state_indices.tolist() == [0, 6]
    assert built.spec_query_start_loc.tolist() == [0, 3]
    assert built.non_spec_query_start_loc.tolist() == [0, 1, 5]
    assert built.num_accepted_tokens.tolist() == [2]


def test_spec_decode_errors() -> None:
    start_loc, table, accepted = (
        torch.zeros(2, dtype=torch.int32),
        torch.zeros(1, 1).int(),
        torch.zeros(1).int(),
    )

    def build(
        start_loc_cpu: object = ints(0, 0), drafts: object = ints(-1), table: torch.Tensor = table
    ) -> None:
        spec_decode.build_spec_decode_metadata(start_loc, start_loc_cpu, drafts, table, accepted)  # type: ignore[arg-type]

    build()
    with pytest.raises(
        TypeError, match="query_start_loc_cpu: expected a NumPy array of integers, got Tensor"
    ):
        build(start_loc_cpu=start_loc)
    with pytest.raises(ValueError, match="num_draft_tokens: expected no value below -1, got -2"):
        build(drafts=ints(-2))
    with pytest.raises(TypeError, match="num_draft_tokens: expected a NumPy array of integers, got list"):
        build(drafts=[-1])
    with pytest.raises(ValueError, match=r"state_table: expected shape \(1, \*\), got \(2, 1\)"):
        build(table=torch.zeros(2, 1).int())


# inputs of a step


def test_token_type_ids_change_at_the_first_token_of_type_one() -> None:
    ids = step_inputs.compressed_token_type_ids([3, 2, 2], {0: 1, 2: 0}, "cpu")
    assert ids is not None
    assert ids.tolist() == [0, 1, 1, 0, 0, 1, 1]
    assert step_inputs.compressed_token_type_ids([3], {}, "cpu") is None


def test_logprobs_of_wanted_tokens_with_the_sampled_one_first() -> None:
    logits = torch.tensor([[0.0, 1.0, 2.0], [5.0, 1.0, 1.0]])
    found = step_inputs.gather_logprobs(logits, {0: [2, 0]}, torch.tensor([1, 0]))
    assert found is not None
    assert found.token_ids.tolist() == [[1, 2, 0], [0, 0, 0]]
    assert found.logprobs[0].tolist() == logits.log_softmax(-1)[0, [1, 2, 0]].tolist()
    assert found.logprobs[1].tolist() == [logits.log_softmax(-1)[1, 0].item(), float("-inf"), float("-inf")]
    assert found.sampled_ranks.tolist() == [1, 0]
    assert step_inputs.gather_logprobs(logits, {}, torch.tensor([1, 0])) is None


def test_all_ranks_see_all_counts() -> None:
    store, seen = dist.HashStore(), {}

    def contribute(rank: int) -> None:
        group = dist.ProcessGroupGloo(store, rank, 2)
        seen[rank] = step_inputs.all_reduce_counts([10 + rank, 20 + rank], rank, 2, "cpu", group).tolist()

    threads = [threading.Thread(target=contribute, args=(rank,)) for rank in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert seen == {0: [[10, 11], [20, 21]], 1: [[10, 11], [20, 21]]}


def test_ngram_rows_follow_their_requests() -> None:
    table = torch.arange(4)
    step_inputs.reorder_ngram_rows([table], {"a": 0, "b": 1, "c": 2, "d": 3}, ["c", "b", "a", "new"])
    assert table.tolist() == [2, 1, 0, 3]
    step_inputs.reorder_ngram_rows([table], {"a": 0}, ["a"])
    assert table.tolist() == [2, 1, 0, 3]


def test_penalty_bins_are_counted_anew() -> None:
    prompt, output = torch.full((3, 4), 9, dtype=torch.int32), torch.full((3, 4), 9, dtype=torch.int32)
    step_inputs.count_penalty_bins(
        prompt,
        output,
        torch.tensor([2, 0]),
        token_ids=torch.tensor([[1, 1, 3, 0], [2, 2, 2, 2]]),
        prompt_lens=torch.tensor([2, 1]),
        total_lens=torch.tensor([3, 4]),
    )
    assert prompt.tolist() == [[0, 0, 1, 0], [9, 9, 9, 9], [0, 2, 0, 0]]
    assert output.tolist() == [[0, 0, 3, 0], [9, 9, 9, 9], [0, 0, 0, 1]]


def test_logits_indices_are_padded_with_the_last() -> None:
    buffer = torch.zeros(5, dtype=torch.int32)
    assert step_inputs.pad_logits_indices(torch.tensor([4, 8]).int(), buffer, 4).tolist() == [4, 8, 8, 8]
    assert buffer.tolist() == [4, 8, 8, 8, 0]


def test_a_bad_word_forbids_the_token_that_would_complete_it() -> None:
    logits = torch.zeros(2, 5)
    step_inputs.apply_bad_words(logits, {0: [[4], [1, 2, 3], [2, 2]], 1: [[1, 2, 0]]}, [[0, 1, 2], [2]])
    assert logits.isinf().nonzero().tolist() == [[0, 2], [0, 3], [0, 4]]


def test_the_mixer_advances_decodes_and_prefills() -> None:
    mixer, state = step_inputs.MambaMixer(1, "cpu"), torch.tensor([[10.0], [20.0]])
    with torch.no_grad():
        out = mixer(torch.ones(4, 1), state, step_inputs.MambaMetadata(1, (3,)))
    assert out.flatten().tolist() == [11, 21, 22, 23]
    assert state.flatten().tolist() == [11, 23]


def test_step_input_errors() -> None:
    one = torch.zeros(1, dtype=torch.int64)
    with pytest.raises(ValueError, match="first_of_type_one: row 2 is not in a batch of 1"):
        step_inputs.compressed_token_type_ids([3], {2: 1}, "cpu")
    with pytest.raises(ValueError, match="wanted: row 1 is not in a batch of 1"):
        step_inputs.gather_logprobs(torch.zeros(1, 4), {1: [0]}, one)
    with pytest.raises(TypeError, match=r"logits: expected torch\.float32, got torch.float64"):
        step_inputs.gather_logprobs(torch.zeros(1, 4).double(), {0: [0]}, one)
    with pytest.raises(ValueError, match="rank: expected 0 to 1, got 2"):
        step_inputs.all_reduce_counts([1], 2, 2, "cpu")
    with pytest.raises(ValueError, match="padded_to: expected 1 to 3, got 4"):
        step_inputs.pad_logits_indices(one, torch.zeros(3).long(), 4)
    with pytest.raises(TypeError, match=r"logits_indices: expected torch\.int32, got torch.int64"):
        step_inputs.pad_logits_indices(one, torch.zeros(3).int(), 2)
    with pytest.raises(ValueError, match=r"logits: expected shape \(2, \*\), got \(1, 4\)"):
        step_inputs.apply_bad_words(torch.zeros(1, 4), {}, [[], []])
    with pytest.raises(ValueError, match=r"hidden: expected shape \(3, 1\), got \(4, 1\)"):
        step_inputs.MambaMixer(1, "cpu")(
            torch.ones(4, 1), torch.ones(2, 1), step_inputs.MambaMetadata(1, (2,))
        )
    counts = torch.zeros(1, 1).int()
    with pytest.raises(ValueError, match=r"token_ids: expected shape \(1, \*\), got \(2, 1\)"):
        step_inputs.count_penalty_bins(
            counts, counts, one, token_ids=torch.zeros(2, 1).long(), prompt_lens=one, total_lens=one
        )

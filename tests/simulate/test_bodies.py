"""Operations by which a program decides: what their bodies for the CPU write, told apart from other ways to say it."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from syncscan.simulate.context import Kernels, simulated_cuda
from syncscan.simulate.inside import bodies
from syncscan.simulate.inside.errors import SimulationError

_library = torch.library.Library("sgl_kernel", "FRAGMENT")
_library.define("top_k_renorm_probs(Tensor probs, Tensor! made, Tensor? ks, int k) -> ()")
_library.define("syncscan_lost(Tensor x) -> Tensor")
torch.library.register_fake("sgl_kernel::syncscan_lost", torch.empty_like)
_experts = torch.library.Library("_moe_C", "FRAGMENT")
_experts.define(
    "grouped_topk(Tensor scores, int groups, int kept, int count, bool renormalize, float scale, Tensor bias, int scoring)"
    " -> (Tensor, Tensor)"
)
_attributes = torch.library.Library("_C_cuda_utils", "FRAGMENT")


def _of_the_driver(*_: int) -> int:
    raise AssertionError("no driver")


for _schema in (
    "get_device_attribute(int attribute, int device_id) -> int",
    "get_max_shared_memory_per_block_device_attribute(int device_id) -> int",
):
    _attributes.define(_schema)
    _attributes.impl(_schema.partition("(")[0], _of_the_driver, "CompositeImplicitAutograd")
_LOST = torch.ops.sgl_kernel.syncscan_lost
_GPU_ALONE = torch.ops.sgl_kernel.top_k_renorm_probs


@pytest.mark.parametrize("kernels", ["auto", "zeros"])
def test_an_operation_that_decides_is_computed_unless_the_user_says_zeros(kernels: Kernels) -> None:
    with simulated_cuda(kernels=kernels) as waits:
        probabilities = torch.tensor([[0.1, 0.6, 0.3]]).cuda()
        made = torch.ones(1, 3, device="cuda")
        _GPU_ALONE(probabilities, made, None, 2)
        waits.clear()
        values = made.cpu()
    expected = torch.tensor([[0.0, 2 / 3, 1 / 3]]) if kernels == "auto" else torch.zeros(1, 3)
    torch.testing.assert_close(values, expected)
    assert [wait.uncomputed for wait in waits] == [kernels == "zeros"]


def test_what_is_computed_of_what_was_not_is_told() -> None:
    with simulated_cuda() as waits:
        lost = _LOST(torch.ones(1, 3, device="cuda"))
        made = torch.ones(1, 3, device="cuda")
        _GPU_ALONE(lost + 1, made, None, 2)
        waits.clear()
        made.tolist()
    assert [wait.uncomputed for wait in waits] == [True]


def test_an_operation_that_asks_for_an_attribute_of_the_device_asks_no_driver() -> None:
    with simulated_cuda() as waits:
        known = torch.cuda.get_device_properties(0)
        assert torch.ops._C_cuda_utils.get_device_attribute(16, 0) == known.multi_processor_count
        assert torch.ops._C_cuda_utils.get_max_shared_memory_per_block_device_attribute(0) > 1 << 16
        with pytest.raises(SimulationError, match="attribute 4711"):
            torch.ops._C_cuda_utils.get_device_attribute(4711, 0)
        assert not waits
    with pytest.raises(AssertionError, match="no driver"):
        torch.ops._C_cuda_utils.get_device_attribute(16, 0)


@pytest.mark.parametrize("kernels", ["auto", "zeros"])
def test_an_operation_with_results_has_their_shape_whether_it_is_computed_or_not(kernels: Kernels) -> None:
    with simulated_cuda(kernels=kernels) as waits:
        scores, bias = torch.tensor([[0.1, 0.9, 0.5, 0.4]] * 3).cuda(), torch.zeros(4).cuda()
        weights, experts = torch.ops._moe_C.grouped_topk(scores, 2, 1, 2, True, 1.0, bias, 0)
        assert (weights.is_cuda, weights.dtype, experts.dtype) == (True, torch.float32, torch.int32)
        waits.clear()
        assert experts.tolist() == [[1, 0] if kernels == "auto" else [0, 0]] * 3
    assert [wait.uncomputed for wait in waits] == [kernels == "zeros"]


@given(st.data(), st.integers(1, 4), st.booleans(), st.integers(0, 1))
def test_the_best_experts_come_from_the_best_groups(
    data: st.DataObject, kept: int, renormalize: bool, scoring: int
) -> None:
    count = data.draw(st.integers(1, 3 * kept))
    numbers = data.draw(st.permutations(range(1, 25)))
    scores, bias = torch.tensor(numbers[:12]).view(1, 12) / 24, 1.3 ** torch.tensor(numbers[12:])
    weights, experts = bodies.BODIES["_moe_C::grouped_topk"].compute(
        scores, 4, kept, count, renormalize, 2.0, bias, scoring
    )
    plain = torch.sigmoid(scores[0]) if scoring else scores[0]
    biased = (plain + bias).tolist()
    groups = [sorted(biased[3 * at : 3 * at + 3])[1:] for at in range(4)]
    best = sorted(range(4), key=lambda at: -sum(groups[at]))[:kept]
    among = sorted(
        (at for group in best for at in range(3 * group, 3 * group + 3)), key=lambda at: -biased[at]
    )
    assert experts[0].tolist() == among[:count]
    chosen = plain[among[:count]]
    torch.testing.assert_close(weights[0], 2 * chosen / (chosen.sum() if renormalize else 1))


@given(st.lists(st.integers(0, 4), min_size=1, max_size=40), st.sampled_from([1, 4, 16]))
def test_aligned_blocks_hold_each_position_once_under_its_expert(experts: list[int], block: int) -> None:
    room = len(experts) + 5 * block
    order, blocks = torch.full((room,), -7, dtype=torch.int32), torch.full((room,), -7, dtype=torch.int32)
    total = torch.zeros(1, dtype=torch.int32)
    bodies.BODIES["_moe_C::moe_align_block_size"].compute(
        torch.tensor(experts), 5, block, order, blocks, total, None
    )
    end = int(total)
    assert end % block == 0
    assert sorted(place for place in order[:end].tolist() if place < len(experts)) == [*range(len(experts))]
    assert set(order[end:].tolist()) <= {len(experts)}
    for at, place in enumerate(order[:end].tolist()):
        assert place == len(experts) or experts[place] == blocks[at // block]


def test_the_experts_of_other_ranks_are_no_block_of_this_one() -> None:
    order, blocks = torch.empty(12, dtype=torch.int32), torch.zeros(12, dtype=torch.int32)
    total = torch.zeros(1, dtype=torch.int32)
    sglang = bodies.BODIES["sgl_kernel::moe_align_block_size"].compute
    sglang(torch.tensor([[-1, 1], [1, 0]]), 3, 4, order, blocks, total, None, True)
    assert (int(total), blocks[:3].tolist()) == (12, [-1, 0, 1])
    assert order.tolist() == [0, 4, 4, 4, 3, 4, 4, 4, 1, 2, 4, 4]


def test_batches_of_experts_are_aligned_row_by_row() -> None:
    order, blocks = torch.empty(8, dtype=torch.int32), torch.empty(4, dtype=torch.int32)
    total = torch.zeros(1, dtype=torch.int32)
    body = bodies.BODIES["_moe_C::batched_moe_align_block_size"].compute
    body(3, 2, torch.tensor([3, 0, 1]), order, blocks, total)
    assert (order.tolist(), blocks.tolist(), total.tolist()) == ([0, 1, 2, 9, 6, 9, 9, 9], [0, 0, 2, -1], [6])


def test_the_experts_of_a_token_are_those_of_highest_probability() -> None:
    gating = torch.tensor([[0.0, 3.0, 1.0], [2.0, 0.0, 2.5]])
    weights, experts = torch.empty(2, 2), torch.empty(2, 2, dtype=torch.int32)
    sources = torch.empty(2, 2, dtype=torch.int32)
    bodies.BODIES["_moe_C::topk_softmax"].compute(weights, experts, sources, gating, True)
    assert (experts.tolist(), sources.tolist()) == ([[1, 2], [2, 0]], [[0, 2], [1, 3]])
    torch.testing.assert_close(weights.sum(-1), torch.ones(2))


@pytest.mark.parametrize(
    ("name", "rest", "possible"),
    [
        ("top_k_top_p_sampling_from_probs", (None, None, 2, None, 1.0), {1, 2}),
        ("top_k_top_p_sampling_from_probs", (None, None, 3, torch.tensor([0.5]), 0), {1}),
        ("top_p_sampling_from_probs", (None, None, 0.7), {1, 2}),
        ("min_p_sampling_from_probs", (None, None, 0.25), {1, 2, 3}),
    ],
)
def test_a_sample_is_one_that_the_limits_leave(name: str, rest: Any, possible: set[int]) -> None:
    torch.manual_seed(0)
    samples = torch.full((200,), -1, dtype=torch.int32)
    rows = torch.tensor([[0.05, 0.55, 0.25, 0.15]]).expand(200, 4)
    bodies.BODIES[f"sgl_kernel::{name}"].compute(rows, samples, *rest, True, None)
    assert set(samples.tolist()) == possible


def test_drafts_are_accepted_as_far_as_the_model_agrees() -> None:
    random.seed(0)
    verify: Callable[..., None] = bodies.BODIES["sgl_kernel::verify_tree_greedy"].compute
    predicted = torch.zeros(5, dtype=torch.int32)
    accepted, counts = torch.full((1, 4), -1, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    drafts = torch.tensor([[9, 5, 6, 7, 8]])  # 5 and 6 follow the root, 7 and 8 the second of them
    places = torch.arange(5)[None]
    children, siblings = torch.tensor([[1, -1, 3, -1, -1]]), torch.tensor([[-1, 2, -1, 4, -1]])
    targets = torch.tensor([[6, 0, 8, 0, 4]])
    verify(predicted, accepted, counts, drafts, places, children, siblings, targets)
    assert (accepted.tolist(), counts.tolist()) == ([[0, 2, 4, -1]], [2])
    assert predicted.tolist() == [6, 0, 8, 0, 4]

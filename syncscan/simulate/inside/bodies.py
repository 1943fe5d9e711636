"""CPU implementations of GPU-only operations whose results decide the control flow of serving programs.

Each writes into its operands, or returns, what the kernel of vLLM or SGLang does: sampled tokens, the experts of
each token, accepted drafts. An implementation takes the arguments in the order of the schema, and may ignore the last of
them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor


class Body(NamedTuple):
    """The CPU implementation of an operation, and the positions of the operands that the operation writes.

    An operation that writes no operand returns its results.
    """

    compute: Callable[..., Any]
    writes: tuple[int, ...] = ()


def find(function: Any) -> Body | None:
    """Return the CPU implementation of an operation, or None."""
    schema = getattr(function, "_schema", None)
    return None if schema is None else BODIES.get(schema.name)


def run(body: Body, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Call a CPU implementation with the arguments of its operation; return the results, or the written operands."""
    arguments = function._schema.arguments
    operands = [*args, *(kwargs.get(argument.name) for argument in arguments[len(args) :])]
    with torch.no_grad(), torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
        made = body.compute(*operands)
    return [operands[position] for position in body.writes] if body.writes else made


# experts of tokens


def _top_experts(weights: Tensor, experts: Tensor, gating: Tensor, renormalize: Any) -> None:
    """Write the experts of highest probability of each token, and their weights."""
    values, indices = torch.softmax(gating.float(), -1).topk(weights.shape[-1])
    if renormalize:
        values = values / values.sum(-1, keepdim=True)
    weights.copy_(values)
    experts.copy_(indices)


def _topk_softmax_vllm(
    weights: Tensor, experts: Tensor, sources: Tensor, gating: Tensor, renormalize: Any = None, *_: Any
) -> None:
    _top_experts(weights, experts, gating, renormalize)
    tokens, count = experts.shape
    sources.copy_(torch.arange(tokens * count, dtype=sources.dtype).view(count, tokens).t())


def _topk_softmax_sglang(
    weights: Tensor, experts: Tensor, gating: Tensor, renormalize: Any = None, *_: Any
) -> None:
    _top_experts(weights, experts, gating, renormalize)


def _grouped_topk(
    scores: Tensor, groups: int, kept: int, count: int, renormalize: bool, scale: float, bias: Tensor, scoring: int = 0, *_: Any
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return the best experts of the best groups of each token, and their weights; the bias decides but weighs nothing."""
    scores = torch.sigmoid(scores.float()) if scoring else scores.float()
    biased = scores + bias.float()
    grouped = biased.view(len(scores), groups, -1)
    of_groups = grouped.topk(min(2, grouped.shape[-1])).values.sum(-1)
    chosen = torch.zeros_like(of_groups, dtype=torch.bool).scatter(-1, of_groups.topk(kept).indices, True)
    allowed = biased.masked_fill(~chosen.repeat_interleave(grouped.shape[-1], dim=-1), -torch.inf)
    experts = allowed.topk(count).indices
    weights = scores.gather(-1, experts)
    if renormalize:
        weights = weights / weights.sum(-1, keepdim=True)
    return weights * scale, experts.int()


def _moe_align_vllm(
    experts: Tensor, count: int, block: int, order: Tensor, blocks: Tensor, total: Tensor, local: Any, *_: Any
) -> None:
    _align(experts.reshape(-1).long(), range(count), block, order, blocks, total)
    if local is not None:
        used = blocks[: int(total) // block]
        used.copy_(local[used.long()])


def _moe_align_sglang(
    experts: Tensor, count: int, block: int, order: Tensor, blocks: Tensor, total: Tensor, *_: Any
) -> None:
    """Align tokens for SGLang, where one more expert, -1, stands for the experts of other ranks."""
    _align(experts.reshape(-1).long() + 1, range(count), block, order, blocks, total)
    blocks[: int(total) // block] -= 1


def _align(experts: Tensor, known: range, block: int, order: Tensor, blocks: Tensor, total: Tensor) -> None:
    """Write the positions of tokens sorted by expert, each expert padded to whole blocks with an invalid position."""
    none = len(experts)
    order.fill_(none)
    end = 0
    for expert in known:
        # syncscan: ignore[SYN202] a simulated tensor is in host memory
        positions = (experts == expert).nonzero()[:, 0]
        order[end : end + len(positions)] = positions.to(order.dtype)
        size = -(-len(positions) // block)
        blocks[end // block : end // block + size] = expert
        end += size * block
    total.fill_(end)


def _batched_moe_align(
    most: int, block: int, counts: Tensor, order: Tensor, blocks: Tensor, total: Tensor, *_: Any
) -> None:
    """Align tokens that lie in one row of ``most`` for each expert."""
    order.fill_(len(counts) * most)
    blocks.fill_(-1)
    end = 0
    for expert, count in enumerate(counts.tolist()):
        order[end : end + count] = torch.arange(expert * most, expert * most + count, dtype=order.dtype)
        size = -(-count // block)
        blocks[end // block : end // block + size] = expert
        end += size * block
    total.fill_(end)


# sampling


def _per_row(values: Tensor | None, value: Any, probabilities: Tensor) -> Tensor:
    found = torch.tensor(value) if values is None else values
    return found.reshape(-1, 1).expand(len(probabilities), 1)


def _keep_top_k(probabilities: Tensor, k: Tensor) -> Tensor:
    ranks = probabilities.argsort(dim=-1, descending=True, stable=True).argsort(-1)
    return torch.where(ranks < k, probabilities, 0)


def _keep_top_p(probabilities: Tensor, p: Tensor) -> Tensor:
    """Return the probabilities with all but the smallest set zeroed whose sum reaches ``p``."""
    values, order = probabilities.sort(dim=-1, descending=True, stable=True)
    kept = (values.cumsum(-1) - values) < p * values.sum(-1, keepdim=True)
    return torch.zeros_like(probabilities).scatter(-1, order, torch.where(kept, values, 0))


def _rows(probabilities: Tensor, indices: Tensor | None) -> Tensor:
    return (probabilities if indices is None else probabilities[indices.long()]).float()


def _draw(probabilities: Tensor, samples: Tensor) -> None:
    samples.copy_(torch.multinomial(probabilities, 1)[:, 0])


def _sample_top_k_top_p(
    probs: Tensor, samples: Tensor, indices: Any, ks: Any, k: Any, ps: Any, p: Any, *_: Any
) -> None:
    rows = _rows(probs, indices)
    both = _keep_top_k(rows, _per_row(ks, k, rows)), _keep_top_p(rows, _per_row(ps, p, rows))
    _draw(torch.minimum(*both), samples)


def _sample_top_p(probs: Tensor, samples: Tensor, indices: Any, ps: Any, p: Any, *_: Any) -> None:
    rows = _rows(probs, indices)
    _draw(_keep_top_p(rows, _per_row(ps, p, rows)), samples)


def _sample_min_p(probs: Tensor, samples: Tensor, indices: Any, ps: Any, p: Any, *_: Any) -> None:
    rows = _rows(probs, indices)
    least = rows.amax(-1, keepdim=True) * _per_row(ps, p, rows)
    _draw(torch.where(rows >= least, rows, 0), samples)


def _renormalize_top_k(probs: Tensor, made: Tensor, ks: Any, k: Any, *_: Any) -> None:
    kept = _keep_top_k(probs.float(), _per_row(ks, k, probs))
    made.copy_(kept / kept.sum(-1, keepdim=True))


def _renormalize_top_p(probs: Tensor, made: Tensor, ps: Any, p: Any, *_: Any) -> None:
    kept = _keep_top_p(probs.float(), _per_row(ps, p, probs))
    made.copy_(kept / kept.sum(-1, keepdim=True))


# drafts


def _verify_tree_greedy(
    predicted: Tensor, accepted: Tensor, counts: Tensor, drafts: Tensor, places: Tensor,
    children: Tensor, siblings: Tensor, targets: Tensor, *_: Any,
) -> None:  # fmt: skip
    """Follow each tree of drafts while a child equals the token that the model itself would choose."""
    wanted = targets.reshape(-1).tolist()
    for row, tree in enumerate(zip(drafts.tolist(), places.tolist(), children.tolist(), siblings.tolist())):
        tokens, places_of, child_of, sibling_of = tree
        path = [places_of[0]]
        node = child_of[0]
        while node != -1 and len(path) < accepted.shape[1]:
            if tokens[node] == wanted[path[-1]]:
                path.append(places_of[node])
                node = child_of[node]
            else:
                node = sibling_of[node]
        accepted[row, : len(path)] = torch.tensor(path, dtype=accepted.dtype)
        counts[row] = len(path) - 1
        for place in path:
            predicted[place] = wanted[place]


# By operation name: those of vLLM 0.25 and SGLang 0.5 (sgl-kernel), including their calls into FlashInfer.
BODIES: dict[str, Body] = {
    "_moe_C::topk_softmax": Body(_topk_softmax_vllm, (0, 1, 2)),
    "_moe_C::grouped_topk": Body(_grouped_topk),
    "_moe_C::moe_align_block_size": Body(_moe_align_vllm, (3, 4, 5)),
    "_moe_C::batched_moe_align_block_size": Body(_batched_moe_align, (3, 4, 5)),
    "sgl_kernel::topk_softmax": Body(_topk_softmax_sglang, (0, 1)),
    "sgl_kernel::moe_align_block_size": Body(_moe_align_sglang, (3, 4, 5)),
    "sgl_kernel::top_k_top_p_sampling_from_probs": Body(_sample_top_k_top_p, (1,)),
    "sgl_kernel::top_p_sampling_from_probs": Body(_sample_top_p, (1,)),
    "sgl_kernel::min_p_sampling_from_probs": Body(_sample_min_p, (1,)),
    "sgl_kernel::top_k_renorm_probs": Body(_renormalize_top_k, (1,)),
    "sgl_kernel::top_p_renorm_probs": Body(_renormalize_top_p, (1,)),
    "sgl_kernel::verify_tree_greedy": Body(_verify_tree_greedy, (0, 1, 2)),
}

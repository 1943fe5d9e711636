"""Which statements would block, judged by the operation table on real arguments."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks import cases, statements
from syncscan.simulate.context import SimulatedSync, simulated_cuda

BLOCKING = [
    ("x.sum().item()", "torch.Tensor.item"),
    ("ids.tolist()", "torch.Tensor.tolist"),
    ("int(i)", "torch.Tensor.__int__"),
    ("float(s)", "torch.Tensor.__float__"),
    ("1 if (x > 0).any() else 0", "torch.Tensor.__bool__"),
    ("x.cpu()", "torch.Tensor.cpu"),
    ("x.to('cpu')", "torch.Tensor.to"),
    ("x.numpy(force=True)", "torch.Tensor.numpy"),
    ("host.copy_(x)", "torch.Tensor.copy_"),
    ("pinned.copy_(x)", "torch.Tensor.copy_"),
    ("host.to('cuda')", "torch.Tensor.to"),
    ("host.cuda()", "torch.Tensor.cuda"),
    ("big.to('cuda', non_blocking=True)", "torch.Tensor.to"),
    ("torch.tensor([1, 2], device='cuda')", "torch.tensor"),
    ("torch.as_tensor(np.ones(3), device='cuda')", "torch.as_tensor"),
    ("x[x > 0]", "torch.Tensor.__getitem__"),
    ("x[[0, 1]]", "torch.Tensor.__getitem__"),
    ("x[range(2)]", "torch.Tensor.__getitem__"),
    ("x[:, [0, 1]]", "torch.Tensor.__getitem__"),
    ("x[np.array([0, 1])]", "torch.Tensor.__getitem__"),
    ("x[torch.tensor([0, 1])]", "torch.Tensor.__getitem__"),
    ("x[i]", "torch.Tensor.__getitem__"),
    ("x[:i]", "torch.Tensor.__getitem__"),
    ("put(x, ids, 0.0)", "torch.Tensor.__setitem__"),
    ("put(x, x > 0, s)", "torch.Tensor.__setitem__"),
    ("put(x, slice(None), torch.zeros(4, 4))", "torch.Tensor.__setitem__"),
    ("put(x[0], 0, 1.0)", "torch.Tensor.__setitem__"),
    ("torch.nonzero(x)", "torch.nonzero"),
    ("torch.where(x > 0)", "torch.where"),
    ("x.masked_select(x > 0)", "torch.masked_select"),
    ("torch.unique(ids)", "torch.unique"),
    ("torch.repeat_interleave(ids, ids)", "torch.repeat_interleave"),
    ("torch.bincount(ids)", "torch.bincount"),
    ("torch.nn.functional.one_hot(ids)", "torch.nn.functional.one_hot"),
    ("torch.arange(i, device='cuda')", "torch.arange"),
    ("torch.full((2,), s, device='cuda')", "torch.full"),
    ("torch.add(x, x, alpha=s)", "torch.add"),
    ("torch.linalg.inv(x)", "torch.linalg.inv"),
    ("torch.allclose(x, y)", "torch.allclose"),
    ("f'{s:.2f}'", "torch.Tensor.__format__"),
    ("repr(x)", "torch.Tensor.__repr__"),
    ("s in x", "torch.Tensor.__contains__"),
    ("torch.cuda.synchronize()", "torch.cuda.synchronize"),
    ("torch.cuda.current_stream().synchronize()", "torch.cuda.Stream.synchronize"),
    ("torch.cuda.current_stream().record_event().synchronize()", "torch.cuda.Event.synchronize"),
]
if hasattr(torch, "accelerator"):  # torch 2.6
    BLOCKING.append(("torch.accelerator.synchronize()", "torch.accelerator.synchronize"))
SILENT = [
    "x + y",
    "x @ y",
    "x.sum()",
    "x.shape, x.dtype, len(x), x.numel()",
    "x.to('cpu', non_blocking=True)",
    "pinned.to('cuda', non_blocking=True)",
    "pinned.copy_(x, non_blocking=True)",
    "host.to('cuda', non_blocking=True)",
    "host.pin_memory()",
    "x.to('cuda')",
    "x.cuda()",
    "x.to(torch.float16)",
    "host.cpu()",
    "host.sum().item()",
    "torch.tensor([], device='cuda')",
    "host[:0].to('cuda')",
    "torch.tensor([1, 2])",
    "torch.zeros(3, device='cuda')",
    "torch.arange(3, device='cuda')",
    "x[ids]",
    "x[host > 0]",
    "x[0], x[:2], x[..., None], x[-1, 1:]",
    "put(x, x > 0, 0.0)",
    "put(x, ids, x[ids])",
    "put(x, 0, 1.0)",
    "x.index_fill_(0, ids, 0.0)",
    "x.masked_fill(x > 0, 0.0)",
    "torch.where(x > 0, x, y)",
    "torch.repeat_interleave(ids, 2)",
    "torch.repeat_interleave(ids, ids, output_size=1)",
    "torch.nonzero_static(x, size=4)",
    "torch.nn.functional.one_hot(ids, 8)",
    "torch.nn.functional.cross_entropy(x, ids4)",
    "torch.quantile(x, 0.5)",
    "torch.multinomial(torch.rand(4, device='cuda'), 2)",
    "torch.linalg.det(x)",
    "torch.linalg.cholesky_ex(x)",
    "[row for row in x]",
    "sum([s, s])",
    "x + torch.tensor(1.0)",
    "torch._assert_async((x == x).all())",
    "torch.cuda.Event().query()",
    "torch.cuda.Event().synchronize()",  # never recorded
    "torch.cuda.empty_cache(), torch.cuda.memory_allocated()",
    "torch.rand(3, device='cuda', generator=torch.Generator('cuda'))",
    "torch.nn.utils.clip_grad_norm_([parameter], 1.0)",
]


def put(tensor: torch.Tensor, index: object, value: object) -> None:
    tensor[index] = value  # type: ignore[index]


def names() -> dict[str, object]:
    parameter = torch.nn.Parameter(torch.ones(4, device="cuda"))
    parameter.grad = torch.ones_like(parameter)
    return {
        "torch": torch,
        "np": np,
        "put": put,
        "x": torch.eye(4, device="cuda"),
        "y": torch.ones(4, 4, device="cuda"),
        "s": torch.ones((), device="cuda"),
        "i": torch.ones((), dtype=torch.int64, device="cuda"),
        "ids": torch.ones(1, dtype=torch.int64, device="cuda"),
        "ids4": torch.ones(4, dtype=torch.int64, device="cuda"),
        "host": torch.ones(4, 4),
        "pinned": torch.ones(4, 4).pin_memory(),
        "big": torch.ones(1 << 20),
        "parameter": parameter,
    }


def watch(statement: str) -> list[SimulatedSync]:
    with simulated_cuda() as seen:
        space = names()
        seen.clear()
        exec(statement, space)
        return list(seen)


@pytest.mark.parametrize(("statement", "api"), BLOCKING)
def test_blocks(statement: str, api: str) -> None:
    assert {sync.api for sync in watch(statement)} == {api}


@pytest.mark.parametrize("statement", SILENT)
def test_does_not_block(statement: str) -> None:
    assert watch(statement) == []


def test_a_call_counts_once_however_often_torch_reads_in_it() -> None:
    assert len(watch("repr(x)")) == 1


def test_operations_inside_python_code_of_torch_are_judged() -> None:
    assert [
        sync.api
        for sync in watch("torch.nn.utils.clip_grad_norm_([parameter], 1.0, error_if_nonfinite=True)")
    ]


def test_operations_in_backward_are_judged() -> None:
    statement = "x.requires_grad_(); loss = x[ids.expand(2)].sum(); loss.backward()"
    assert watch(statement) == []
    hook = "x.requires_grad_(); z = x * 2; z.register_hook(lambda g: g * g.sum().item()); z.sum().backward()"
    assert [sync.api for sync in watch(hook)] == ["torch.Tensor.item"]


def test_an_index_of_aten_leaves_a_dimension_whole() -> None:
    with simulated_cuda() as seen:
        x, mask = torch.zeros(2, 3, device="cuda"), torch.tensor([True, False, True]).cuda()
        x[:, mask] = torch.tensor(1.0)
        effects = [sync.effect for sync in seen]
        seen.clear()
        y = torch.zeros(2, 3, device="cuda")
        torch.ops.aten.index_put_(y, [None, mask], torch.tensor(1.0))
        assert [sync.effect for sync in seen] == effects[1:]  # without the upload of the mask
        assert torch.equal(x, y)


def test_a_sync_names_its_line_function_effect_and_operands() -> None:
    with simulated_cuda() as seen:
        total = torch.ones(2, 3, device="cuda")
        total[0].tolist()  # this line
    (sync,) = seen
    assert "# this line" in Path(sync.path).read_text(encoding="utf-8").splitlines()[sync.line - 1]
    assert sync.function.endswith("test_a_sync_names_its_line_function_effect_and_operands")
    assert (sync.effect, sync.operands) == ("download", {"input": "cuda:0 float32 [3]"})


def test_the_callback_runs_on_the_stack_of_the_call() -> None:
    class ForbiddenError(Exception):
        pass

    def forbid(sync: object) -> None:
        raise ForbiddenError

    with simulated_cuda(forbid), pytest.raises(ForbiddenError):
        torch.ones(3, device="cuda").sum().item()


def test_where_a_result_goes_is_no_operand():
    with simulated_cuda() as waits:
        parts = [torch.ones(4, 3, device="cuda"), torch.ones(2, 3, device="cuda")]
        out = torch.empty(2, 9, device="cuda")
        torch._chunk_cat(parts, 0, 2, out=out)  # as `fully_shard` gathers gradients
        torch.ops.aten._chunk_cat.out(parts, 0, 2, out=out)
    assert waits == []


def test_calls_that_were_measured_on_a_gpu_get_their_verdicts_one_in_nine() -> None:
    total, differences = cases.replay(share=9)
    assert total > 100
    assert not [one for one in differences if "hybrid" not in one.line and "semi_structured" not in one.line]


@pytest.mark.long
def test_statements_block_as_on_a_gpu() -> None:
    """The one that differs is refused by torch 2.11 on a GPU too."""
    real, simulated = statements.on_gpu(), statements.counts(["--simulate"])
    assert {each for each in statements.STATEMENTS if bool(real[each]) != bool(simulated[each])} == {
        "torch.index_select(csr, 0, idx)"
    }
    assert all(simulated[each] <= real[each] for each in statements.STATEMENTS if real[each])
    of_dense = [each for each in statements.STATEMENTS if not _IN_STEPS.search(each)]
    assert len(of_dense) > 70
    assert not {each for each in of_dense if simulated[each] != real[each]}


_IN_STEPS = re.compile("csr|coo|sparse|raw|spd")  # what the simulation counts once, and a GPU part by part


def test_each_number_that_a_call_reads_counts() -> None:
    with simulated_cuda() as waits:
        x, i, j = torch.ones(9, 9, device="cuda"), *torch.tensor([1, 4]).cuda()
        host = torch.arange(2)
        waits.clear()
        found = []
        for call in (
            lambda: x[i:j, 0:i],
            lambda: torch.arange(i, j),
            lambda: torch.tensor([i, j]),
            lambda: torch.tensor([i, j], device="cuda"),
            lambda: torch.tensor([[i], [j]], device="cuda"),
            lambda: x.new_tensor([i]),
            lambda: x[host, [0, 1]],
            lambda: x[i],
            lambda: x.sum().add(i, alpha=j),
        ):
            call()
            found.append(len(waits))
            waits.clear()
    assert found == [3, 2, 2, 3, 3, 2, 2, 1, 1]


@pytest.mark.parametrize(
    ("statement", "times"),
    [
        ("x[[True, False] * 4]", 2),
        ("x[np.array([True, False] * 4)]", 2),
        ("x[np.arange(2), np.arange(2)]", 2),
        ("x[:, [True, False] * 4]", 2),
        ("x[[0, 1]]", 1),
        ("x[[]]", 1),
        ("x[host]", 1),
        ("x[host_mask]", 0),
        ("put(x, host, 0.0)", 2),
        ("put(x, (host, host), 0.0)", 3),
        ("put(x, host_mask, 0.0)", 1),
        ("put(x, [True, False] * 4, 0.0)", 1),
        ("put(x, [True, False] * 4, x[4:] + 1)", 2),
    ],
)
def test_an_index_that_is_uploaded_may_block_again(statement: str, times: int) -> None:
    """On the GPU a list of booleans is a mask, whose positions the host reads, and indices wait for a number's copy."""
    with simulated_cuda() as waits:
        x, host, host_mask = torch.ones(8, 8, device="cuda"), torch.arange(2), torch.arange(8) > 3
        names = {"x": x, "host": host, "host_mask": host_mask, "np": np, "put": torch.Tensor.__setitem__}
        waits.clear()
        eval(statement, names)
        assert len(waits) == times

"""`barrier` and the collectives of Python objects block the CPU on a group of NCCL.

`all_gather_object`, `broadcast_object_list` and their like pickle their arguments, upload them, and download sizes
and bytes again. On an H200 `all_gather_object` synchronizes five times. `barrier` blocks until the GPU of every rank has reached the barrier.
So the slowest rank blocks the hosts of all, and each GPU runs empty.

**Stays silent** on

- a group that is not known to be of NCCL: the project must call `init_process_group("nccl")` or `new_group(backend="nccl")`;
- a group of gloo, which is on the host alone;
- `barrier(async_op=True)`;
- collectives of tensors, which are queued on the GPU like a kernel.

**No rewrite.** Exchange host data through a group of gloo: `new_group(backend="gloo")`. Exchange numbers on the GPU
by `all_reduce` or `all_gather` of a tensor. A barrier in a step is mostly left over from timing.
"""

import ast

from syncscan.ops import Effect
from syncscan.rule import Example, Facts, Match, Rule

from ._shared import blocking_call, is_false, shown


class BlockingCollective(Rule):
    code = "SYN402"
    name = "blocking-collective"
    summary = "a barrier, or a collective of Python objects, on a group of NCCL"
    instead = 'use a CPU group, `new_group(backend="gloo")`, or a collective of a tensor'
    nodes = (ast.Call,)
    examples = (
        Example(
            bad="""\
import torch.distributed as dist

dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=1)
counts = [None]
dist.barrier()  # expect: SYN402
dist.all_gather_object(counts, {"tokens": 3})  # expect: SYN402
dist.destroy_process_group()
"""
        ),
        Example(
            good="""\
import torch
import torch.distributed as dist

dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=1)
hosts = dist.new_group(backend="gloo")
counts = [None]
dist.all_gather_object(counts, {"tokens": 3}, group=hosts)
dist.barrier(hosts)
tokens = torch.ones(4, device="cuda")
dist.all_reduce(tokens)
dist.destroy_process_group()
"""
        ),
        Example(
            good="""\
import torch.distributed as dist


def start(backend: str, address: str) -> None:
    dist.init_process_group(backend, init_method=address)
    dist.barrier()
"""
        ),
    )

    def match(self, node: ast.AST, facts: Facts) -> Match | None:
        call = blocking_call(node, facts, Effect.WAIT)
        if call is None or not facts.name_of(call.func).startswith("torch.distributed."):
            return None
        group, queued = facts.operand(call, "group"), facts.argument(call, "async_op")
        if group.payload != "torch.distributed.ProcessGroupNCCL" or not is_false(queued):
            return None
        message = f"{shown(call, facts)} blocks the CPU until the GPUs of the group have reached the call"
        return Match(call, message, because=group)

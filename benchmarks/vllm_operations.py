"""The C++ operations of vLLM that block the CPU: the benchmark calls each behind a queue of work on the GPU.

    python -m benchmarks.vllm_operations

runs where vLLM is installed, on an NVIDIA GPU. An operation blocks if the call takes about as long as the queue. The results are declared
in ``rules/stubs/torch.ops._C.toml`` and the like, and the command fails where one of these entries is not what was measured.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator

import torch

from syncscan.ops import stubs

CYCLES = 400_000_000  # some 0.2 s on an H200
TOKENS, HIDDEN, HEADS, SIZE, BLOCK = 64, 1024, 8, 128, 16


def main() -> None:
    """Print a row for each operation."""
    import vllm  # noqa: PLC0415 (which registers the operations, and is there on the measured machine alone)
    import vllm._custom_ops  # noqa: F401, PLC0415 (the import registers operations; only that Python has vLLM)

    print("| operation | call behind the queue (ms) | queue (ms) | blocks |")
    print("|---|---|---|---|")
    wrong = [name for name, call in calls() if not is_as_declared(name, call)]
    declared = {name for name in stubs.names() if name.startswith("torch.ops._")}
    unmeasured = declared - {name for name, _ in calls()}
    sys.exit(f"not as declared: {wrong}; not measured: {sorted(unmeasured)}" if wrong or unmeasured else 0)


def is_as_declared(name: str, call: Callable[[], object]) -> bool:
    """Measure a call, print its row, and return whether its stub says the same."""
    call()
    torch.cuda.synchronize()
    start = time.perf_counter()
    torch.cuda._sleep(CYCLES)
    launched = time.perf_counter()
    call()
    called = time.perf_counter()
    torch.cuda.synchronize()
    queue, took = time.perf_counter() - start, called - launched
    blocks = took > queue / 2
    print(f"| `{name}` | {took * 1e3:.2f} | {queue * 1e3:.0f} | {'yes' if blocks else 'no'} |", flush=True)
    stub = stubs.of(name)
    return stub is not None and bool(stub.operation.blocks) is blocks


def calls() -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the operations, each with a call on tensors of the GPU."""
    c, cache = torch.ops._C, torch.ops._C_cache_ops
    x = torch.rand(TOKENS, HIDDEN, device="cuda", dtype=torch.bfloat16)
    out, residual, weight = (
        torch.empty_like(x),
        torch.rand_like(x),
        torch.rand(HIDDEN, device="cuda").bfloat16(),
    )
    yield "torch.ops._C.rms_norm", lambda: c.rms_norm(out, x, weight, 1e-5)
    yield "torch.ops._C.fused_add_rms_norm", lambda: c.fused_add_rms_norm(x, residual, weight, 1e-5)
    half = torch.empty(TOKENS, HIDDEN // 2, device="cuda", dtype=torch.bfloat16)
    for name in ("silu_and_mul", "mul_and_silu", "gelu_and_mul", "gelu_tanh_and_mul"):
        yield f"torch.ops._C.{name}", lambda name=name: getattr(c, name)(half, x)
    for name in ("gelu_new", "gelu_fast", "gelu_quick"):
        yield f"torch.ops._C.{name}", lambda name=name: getattr(c, name)(out, x)
    positions = torch.arange(TOKENS, device="cuda")
    query, key = (torch.rand(TOKENS, HEADS * SIZE, device="cuda").bfloat16() for _ in range(2))
    angles = torch.rand(4096, SIZE, device="cuda").bfloat16()
    yield (
        "torch.ops._C.rotary_embedding",
        lambda: c.rotary_embedding(positions, query, key, SIZE, angles, True),
    )
    eight = torch.empty_like(x, dtype=torch.float8_e4m3fn)
    scale, scales = torch.ones(1, device="cuda"), torch.empty(TOKENS, 1, device="cuda")
    yield "torch.ops._C.static_scaled_fp8_quant", lambda: c.static_scaled_fp8_quant(eight, x, scale)
    yield "torch.ops._C.dynamic_scaled_fp8_quant", lambda: c.dynamic_scaled_fp8_quant(eight, x, scale)
    yield (
        "torch.ops._C.dynamic_per_token_scaled_fp8_quant",
        lambda: c.dynamic_per_token_scaled_fp8_quant(eight, x, scales, None),
    )
    shape = (TOKENS, HEADS, SIZE)
    keys, values = (
        torch.zeros(32, BLOCK, HEADS, SIZE, device="cuda", dtype=torch.bfloat16) for _ in range(2)
    )
    yield (
        "torch.ops._C_cache_ops.reshape_and_cache_flash",
        lambda: cache.reshape_and_cache_flash(
            key.view(shape), query.view(shape), keys, values, positions, "auto", scale, scale
        ),
    )
    yield from calls_of_attention(query.view(shape), keys, values)


def calls_of_attention(
    query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor
) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the operations of FlashAttention 3, called as vLLM calls them, for four requests of 16 tokens."""
    from vllm.vllm_flash_attn.flash_attn_interface import (  # noqa: PLC0415 (see `main`)
        flash_attn_varlen_func,
        get_scheduler_metadata,
    )

    starts = torch.arange(0, TOKENS + 1, 16, device="cuda", dtype=torch.int32)
    lengths = torch.full((4,), 64, device="cuda", dtype=torch.int32)
    table = torch.arange(16, device="cuda", dtype=torch.int32).view(4, 4)
    yield (
        "torch.ops._vllm_fa3_C.get_scheduler_metadata",
        lambda: get_scheduler_metadata(
            batch_size=4, max_seqlen_q=16, max_seqlen_k=64, num_heads_q=HEADS, num_heads_kv=HEADS, headdim=SIZE,
            cache_seqlens=lengths, qkv_dtype=torch.bfloat16, cu_seqlens_q=starts, page_size=BLOCK, causal=True,
        ),
    )  # fmt: skip
    yield (
        "torch.ops._vllm_fa3_C.fwd",
        lambda: flash_attn_varlen_func(
            q=query, k=keys, v=values, max_seqlen_q=16, cu_seqlens_q=starts, max_seqlen_k=64, seqused_k=lengths,
            block_table=table, causal=True, fa_version=3,
        ),
    )  # fmt: skip


if __name__ == "__main__":
    main()

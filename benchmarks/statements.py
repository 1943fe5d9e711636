"""Statements about sparse tensors, factorisations, indices and operations of the program: how often each synchronizes.

    python -m benchmarks.statements            simulated, compared with what an H200 did
    python -m benchmarks.statements --gpu      on a GPU; prints what `benchmarks/statements_h200.json` holds

Each statement is the body of a function that runs once under `syncscan trace`. A simulation counts the numbers that a
call reads, and else the call once. So where a GPU synchronizes several times in one statement, only whether it blocks is compared.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ON_GPU = Path(__file__).with_name("statements_h200.json")
SETUP = """
import warnings
warnings.simplefilter("ignore")
import torch
torch.manual_seed(0)
D = "cuda"
dense = (torch.eye(8) * 2 + 1).to(D)
coo = dense.to_sparse()
raw = torch.sparse_coo_tensor(torch.zeros(2, 3, dtype=torch.long, device=D), torch.ones(3, device=D), (8, 8), check_invariants=False)
csr = dense.to_sparse_csr()
bsr = dense.to_sparse_bsr((2, 2))
csc = dense.to_sparse_csc()
spd = dense @ dense.T + torch.eye(8, device=D)
factor = torch.linalg.cholesky_ex(spd)[0]
many = torch.stack([spd, spd])
idx = torch.tensor([0, 2], device=D)
x = torch.randn(8, 4, device=D)
v = torch.randn(4, device=D)
s = torch.tensor(3.0, device=D)
i = torch.tensor(3, device=D)
j = torch.tensor(5, device=D)
host_mask = torch.tensor([True, False] * 4)
host_mask2 = torch.ones(8, 4, dtype=torch.bool)
host_idx = torch.tensor([0, 2])
gpu_mask = host_mask.to(D)
hx = torch.randn(8, 8)
pair = torch.tensor([1, 2], device=D)

@torch.library.custom_op("statements::two", mutates_args=(), device_types="cpu")
def two(t: torch.Tensor) -> torch.Tensor:
    return t + t.sum().item()
@two.register_kernel("cuda")
def _(t):
    return t * 2
@torch.library.custom_op("statements::cuda_reads", mutates_args=(), device_types="cuda")
def cuda_reads(t: torch.Tensor) -> torch.Tensor:
    return t * t.sum().item()
@cuda_reads.register_kernel("cpu")
def _(t):
    return t * 2
@torch.library.custom_op("statements::any_device", mutates_args=())
def any_device(t: torch.Tensor) -> torch.Tensor:
    return t * t.sum().item()
torch.cuda.synchronize()
"""
STATEMENTS = """
coo.coalesce()
raw.clone().coalesce()
coo.values().tolist()
coo.indices().tolist()
coo.indices()
coo._nnz()
coo.to_dense()
dense.to_sparse()
dense.to_sparse_csr()
dense.to_sparse_csc()
dense.to_sparse_bsr((2, 2))
dense.to_sparse_bsc((2, 2))
csr.crow_indices().tolist()
csr.col_indices().cpu()
csr.values().sum().item()
csr.to_dense()
csr.to_sparse_coo()
csr @ csr
csr @ dense
(csr @ csr).to_sparse_coo()
torch.sparse.mm(csr, csr)
torch.sparse.mm(coo, coo)
torch.sparse.mm(coo, dense)
torch.sparse.sum(coo)
torch.sparse.softmax(coo, 1)
bsr.values().tolist()
bsr @ dense
bsr.to_dense()
csc.ccol_indices().tolist()
csr + csr
coo + coo
coo * coo
csr * 2
csr.sum()
coo.sum()
csr.t()
csr[0]
coo[0]
csr.select(0, 1)
coo.index_select(0, idx)
csr.to('cpu')
coo.to('cpu')
csr.cpu().to(D)
coo.cpu().to(D)
repr(csr)
repr(coo)
torch.sparse_csr_tensor(csr.crow_indices(), csr.col_indices(), csr.values(), (8, 8))
torch.sparse_coo_tensor(coo.indices(), coo.values(), (8, 8))
torch.sparse_coo_tensor(coo.indices(), coo.values())
torch.linalg.lu_factor_ex(spd)
torch.linalg.lu_factor_ex(many)
torch.linalg.lu_factor(spd)
torch.linalg.lu_factor(many)
torch.cholesky_solve(x, factor)
torch.cholesky_solve(torch.stack([x, x]), torch.stack([factor, factor]))
torch.cholesky_inverse(factor)
torch.linalg.cholesky(spd)
torch.linalg.cholesky(many)
torch.linalg.ldl_factor_ex(spd)
torch.linalg.inv_ex(spd)
torch.linalg.solve_ex(spd, x)
torch.linalg.lstsq(spd, x)
torch.linalg.slogdet(spd)
torch.linalg.qr(spd)
torch.linalg.eigh(spd)
torch.linalg.svd(spd)
torch.lu_solve(x, *torch.linalg.lu_factor_ex(spd)[:2])
torch.index_select(x, 0, idx)
torch.index_select(coo, 0, idx)
torch.index_select(csr, 0, idx)
torch.mm(spd, x)
torch.mm(coo, x)
torch.mm(csr, x)
torch.mm(x.T, coo)
torch.mm(csr, csr)
torch.tensor([s, s])
torch.tensor([s, s], device=D)
torch.tensor([i, j])
torch.tensor([s, 1.0])
torch.tensor([[s, s], [s, s]])
torch.tensor([torch.tensor(1.0), torch.tensor(2.0)])
torch.tensor([torch.tensor(1.0), torch.tensor(2.0)], device=D)
torch.tensor(s)
torch.tensor(s, device='cpu')
torch.as_tensor([s, s])
torch.tensor([s.cpu()])
torch.stack([s, s])
two(x)
two(hx)
cuda_reads(x)
cuda_reads(hx)
any_device(x)
exec('with torch.autocast("cuda"): r = hx @ hx; assert r.dtype == torch.float32, r.dtype')
exec('with torch.autocast("cuda"): r = dense @ dense; assert r.dtype == torch.float16, r.dtype')
exec('with torch.autocast("cuda", dtype=torch.bfloat16): r = torch.nn.functional.linear(hx, hx); assert r.dtype == torch.float32, r.dtype')
x[host_mask]
x[host_mask2]
x[host_mask, 0]
x[:, torch.tensor([True, False, True, False])]
x[host_idx]
x[host_idx, host_idx]
x[[0, 1]]
x[[0, 1], [0, 1]]
x[gpu_mask]
x[gpu_mask, 0]
x[[True, False] * 4]
x.__setitem__(host_mask, 0.0)
x.__setitem__(host_mask, v)
x.__setitem__(gpu_mask, 0.0)
x.__setitem__(host_idx, 0.0)
x.__setitem__((host_idx, host_idx), 0.0)
x[i:j]
x[:j]
x[i:]
x[i:j, 0:i]
x[i]
x[i, 0]
x[i, i % 4]
x[i:j] + x[i:j]
torch.arange(i, j, device=D)
torch.arange(i, j)
torch.full((2,), s, device=D)
torch.clamp(x, min=s, max=s)
torch.linspace(s, s + 1, 3, device=D)
x.narrow(0, i, 2)
x.new_tensor([s, s])
pair.tolist()
[int(each) for each in pair]
range(i)
torch.zeros(i, j, device=D)
torch.split(x, [i, j])
x.index_put((host_mask,), s)
x.masked_select(host_mask2.to(D))
torch.nonzero(x)
torch.where(x > 0)
torch.unique(idx, return_counts=True)
torch.unique_consecutive(idx)
torch.equal(x, x + 1)
torch.allclose(x, x + 1)
""".strip().splitlines()


def program() -> tuple[str, dict[int, str]]:
    """Return a program that runs each statement in a function, and the statement of each line."""
    lines = SETUP.splitlines()
    statements = {}
    for number, statement in enumerate(STATEMENTS):
        lines += [f"def f{number}():", f"    {statement}"]
        statements[len(lines)] = statement
    lines += [
        "for function in [value for name, value in globals().items() if name[0] == 'f' and name[1:].isdigit()]:"
    ]
    # A build may refuse a statement; the others still count, and this one up to where it was refused.
    lines += ["    try: function()", "    except (NotImplementedError, RuntimeError): pass"]
    return "\n".join(lines) + "\n", statements


def counts(how: list[str]) -> dict[str, int]:
    """Return the synchronizations of each statement."""
    text, statements = program()
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder, "statements.py"), Path(folder, "out")
        path.write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "syncscan", "trace", *how, "-o", out, "--", sys.executable, path]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        sites = json.loads((out / "trace.json").read_text(encoding="utf-8"))["sites"]
    found = dict.fromkeys(STATEMENTS, 0)
    for site in sites:
        for line in _lines_in(site, path.name) & statements.keys():
            found[statements[line]] += site["count"]
    return found


def _lines_in(site: dict[str, Any], file: str) -> set[int]:
    """Return the lines of a file on the stacks of a site."""
    frames = [frame for stack in site["stacks"] for frame in stack["frames"]]
    return {int(frame.split(":")[1]) for frame in frames if frame.split(":")[0].endswith(file)}


def on_gpu() -> dict[str, int]:
    """Return the synchronizations of each statement on an H200, with torch 2.11 and CUDA 13.0."""
    found: dict[str, int] = json.loads(ON_GPU.read_text(encoding="utf-8"))
    return found


def main() -> None:
    """Print the counts of a GPU, or the statements that differ."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--gpu", action="store_true", help="on a real one")
    if parser.parse_args().gpu:
        print(json.dumps(counts([]), indent=0))
        return
    real, simulated = on_gpu(), counts(["--simulate"])
    same = [statement for statement in STATEMENTS if bool(real[statement]) == bool(simulated[statement])]
    several = [statement for statement in same if real[statement] != simulated[statement]]
    for statement in STATEMENTS:
        if real[statement] != simulated[statement]:
            print(f"{real[statement]} on the GPU, {simulated[statement]} simulated: {statement}")
    print(
        f"{len(same)} of {len(STATEMENTS)} statements block or not as on the GPU; {len(several)} synchronize more often there"
    )


if __name__ == "__main__":
    main()

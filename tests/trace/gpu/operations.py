"""One torch operation a line; those that make the CPU wait, as measured on a GPU, are marked.

Run under ``syncscan trace --step __main__:measured``: only the last call of each case is in a step.
"""

import copy
import io
import pickle
import sys

import numpy as np
import torch


def measured(function):
    """The step: one call of one case."""
    function()


def case(name, function):
    """Two calls to warm up, and one that counts."""
    if sys.argv[1:] and name not in sys.argv[1:]:
        return
    function()
    function()
    torch.cuda.synchronize()
    measured(function)


def wait_for_event():
    """Record and wait for an event."""
    event = torch.cuda.Event()
    event.record()
    event.synchronize()  # blocks, unseen by debug mode


def query_event():
    """Record an event and ask whether it is done."""
    event = torch.cuda.Event()
    event.record()
    event.query()


def elapsed():
    """The time between two events."""
    first, second = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    first.record()
    second.record()
    second.synchronize()  # blocks, unseen by debug mode
    first.elapsed_time(second)


def scaled_step():
    """One step with a gradient scaler."""
    loss = (p * 2).sum()
    scaler.scale(loss).backward()
    scaler.step(optimizer)  # blocks
    scaler.update()


dev = "cuda"
s = torch.tensor(0.5, device=dev)
i0 = torch.tensor(5, device=dev)
x = torch.randn(1024, 1024, device=dev)
m = torch.rand(1024, device=dev) > 0.5
mc = m.cpu()
idx = torch.randint(0, 1024, (64,), device=dev)
idxc = idx.cpu()
v = torch.arange(1024, device=dev)
vf = v.float()
reps = torch.ones(1024, dtype=torch.int64, device=dev)
pg = torch.randn(1024, 1024)
pin = torch.randn(1024, 1024).pin_memory()
big = torch.randn(64, 1024, 1024)
small = torch.randn(16)
outp = torch.empty(1024, 1024).pin_memory()
outpg = torch.empty(1024, 1024)
p = torch.nn.Parameter(torch.randn(1000, device=dev))
p.grad = torch.randn_like(p)
optimizer = torch.optim.Adam([p])
scaler = torch.amp.GradScaler("cuda")

# ruff: noqa: E704
# fmt: off
case('item', lambda: s.item())  # blocks
case('tolist', lambda: idx.tolist())  # blocks
case('cpu', lambda: x.cpu())  # blocks
case('to_cpu_nb', lambda: x.to('cpu', non_blocking=True))
case('numpy', lambda: x.cpu().numpy())  # blocks
case('bool(t)', lambda: bool(s > 0))  # blocks
case('int(t)', lambda: int(i0))  # blocks
case('float(t)', lambda: float(s))  # blocks
case('if eq', lambda: torch.equal(x, x))
case('allclose', lambda: torch.allclose(x, x))  # blocks
case('isin', lambda: torch.isin(v, idx))  # blocks
case('nonzero', lambda: m.nonzero())  # blocks
case('nonzero_static', lambda: torch.nonzero_static(m, size=1024))
case('argwhere', lambda: torch.argwhere(m))  # blocks
case('where1', lambda: torch.where(m))  # blocks
case('where3', lambda: torch.where(m, vf, 0.0))
case('masked_select', lambda: torch.masked_select(vf, m))  # blocks
case('x[mask_gpu]', lambda: vf[m])  # blocks
case('x[mask_cpu]', lambda: vf[mc])
case('x[idx_gpu]', lambda: x[idx])
case('x[idx_cpu]', lambda: x[idxc])  # blocks
case('x[list]', lambda: x[[1, 2, 3]])  # blocks
case('x[np]', lambda: x[np.array([1, 2, 3])])  # blocks
def store(): vf[m] = 0.0
case('x[mask]=scalar', store)
def store(): vf[m] = s  # blocks
case('x[mask]=gpu0d', store)
def store(): vf[mc] = 0.0  # blocks
case('x[mask_cpu]=scalar', store)
def store(): vf[m] = vf[m.clone()]  # blocks
case('x[mask]=tensor', store)
def store(): x[idx] = 0.0  # blocks
case('x[idx]=scalar', store)
def store(): x[idx] = torch.tensor(1.0)  # blocks
case('x[idx]=cputensor0d', store)
def store(): x[idx] = x[idx]
case('x[idx]=gpu', store)
def store(): x[idxc] = 0.0  # blocks
case('x[idxc]=scalar', store)
def store(): x[0] = 1.0
case('x[0]=1.', store)
def store(): x[:, 0] = pg[0]  # blocks
case('x[:,0]=cpu_t', store)
case('x[i0]', lambda: x[i0])  # blocks
case('x[:i0]', lambda: x[:i0])  # blocks
def store(): x[i0] = 0.0  # blocks
case('x[i0]=0', store)
case('index_fill_', lambda: x.index_fill_(0, idx, 0.0))
case('index_select', lambda: x.index_select(0, idx))
case('index_put acc', lambda: x.index_put_((idx,), torch.ones((), device=dev), accumulate=True))
case('masked_fill', lambda: x.masked_fill(m, 0.0))
case('masked_scatter', lambda: vf.masked_scatter(m, vf))
case('take', lambda: torch.take(vf, idx))
case('scatter_', lambda: vf.scatter_(0, idx, 1.0))
case('gather', lambda: vf.gather(0, idx))
case('unique', lambda: torch.unique(v))  # blocks
case('unique_consecutive', lambda: torch.unique_consecutive(v))  # blocks
case('bincount', lambda: torch.bincount(v))  # blocks
case('bincount_ml', lambda: torch.bincount(v, minlength=1024))  # blocks
case('histc', lambda: torch.histc(vf, 10))  # blocks
case('repeat_interleave_t', lambda: torch.repeat_interleave(v, reps))  # blocks
case('repeat_interleave_out', lambda: torch.repeat_interleave(v, reps, output_size=1024))
case('repeat_interleave_int', lambda: torch.repeat_interleave(v, 2))
case('tensor_list_cuda', lambda: torch.tensor([1, 2, 3], device=dev))  # blocks
case('tensor_scalar_cuda', lambda: torch.tensor(1.0, device=dev))  # blocks
case('as_tensor_list', lambda: torch.as_tensor([1, 2], device=dev))  # blocks
case('as_tensor_np', lambda: torch.as_tensor(np.ones(1000), device=dev))  # blocks
case('from_numpy.to', lambda: torch.from_numpy(np.ones(1000)).to(dev))  # blocks
case('from_numpy.to_nb', lambda: torch.from_numpy(np.ones(1000)).to(dev, non_blocking=True))
case('pg.cuda', lambda: pg.cuda())  # blocks
case('pg.to_nb', lambda: pg.to(dev, non_blocking=True))  # blocks, unseen by debug mode
case('small.to_nb', lambda: small.to(dev, non_blocking=True))
case('big.to_nb', lambda: big.to(dev, non_blocking=True))  # blocks, unseen by debug mode
case('pin.to', lambda: pin.to(dev))  # blocks
case('pin.to_nb', lambda: pin.to(dev, non_blocking=True))
case('pin_memory()', lambda: pg.pin_memory())
case('pin_memory().to_nb', lambda: small.pin_memory().to(dev, non_blocking=True))
case('tensor_pin.to_nb', lambda: torch.tensor([1, 2, 3], pin_memory=True).to(dev, non_blocking=True))
case('copy_ d2h pg nb', lambda: outpg.copy_(x, non_blocking=True))  # blocks, unseen by debug mode
case('copy_ d2h pin nb', lambda: outp.copy_(x, non_blocking=True))
case('copy_ d2h pin', lambda: outp.copy_(x))  # blocks
case('copy_ h2d pg', lambda: x.copy_(pg))  # blocks
case('copy_ h2d pg nb', lambda: x.copy_(pg, non_blocking=True))  # blocks, unseen by debug mode
case('copy_ h2d pin nb', lambda: x.copy_(pin, non_blocking=True))
case('zeros', lambda: torch.zeros(10, device=dev))
case('full_scalar', lambda: torch.full((10,), 3.0, device=dev))
case('full_gputensor', lambda: torch.full((10,), s, device=dev))  # blocks
case('arange', lambda: torch.arange(10, device=dev))
case('arange(gpu)', lambda: torch.arange(i0, device=dev))  # blocks
case('zeros(gpu)', lambda: torch.zeros(i0, device=dev))  # blocks
case('linspace', lambda: torch.linspace(0, 1, 10, device=dev))
case('range(gpu)', lambda: list(range(i0)))  # blocks
case('one_hot', lambda: torch.nn.functional.one_hot(v))  # blocks
case('one_hot_n', lambda: torch.nn.functional.one_hot(v, 1024))
case('multinomial', lambda: torch.multinomial(torch.rand(1024, device=dev), 5))
case('multinomial_repl', lambda: torch.multinomial(torch.rand(1024, device=dev), 5, replacement=True))
case('topk', lambda: torch.topk(vf, 5))
case('sort', lambda: torch.sort(vf))
case('cumsum', lambda: torch.cumsum(v, 0))
case('max', lambda: vf.max())
case('randperm', lambda: torch.randperm(1000, device=dev))
case('searchsorted', lambda: torch.searchsorted(vf, vf))
case('embedding', lambda: torch.nn.functional.embedding(idx, x))
case('cross_entropy', lambda: torch.nn.functional.cross_entropy(x, v))
case('matmul', lambda: x @ x)
case('inv', lambda: torch.linalg.inv(x))  # blocks
case('solve', lambda: torch.linalg.solve(x, x))  # blocks
case('cholesky_ex', lambda: torch.linalg.cholesky_ex(x @ x.T))
case('cholesky', lambda: torch.linalg.cholesky(x @ x.T + 1000 * torch.eye(1024, device=dev)))  # blocks
case('svd', lambda: torch.linalg.svd(x[:32, :32]))  # blocks
case('eigh', lambda: torch.linalg.eigh(x[:32, :32]))  # blocks 9 or 10 times
case('det', lambda: torch.det(x[:32, :32]))
case('lstsq', lambda: torch.linalg.lstsq(x, x))  # blocks
case('clip_grad', lambda: torch.nn.utils.clip_grad_norm_([p], 1.0))
case('clip_grad_err', lambda: torch.nn.utils.clip_grad_norm_([p], 1000000000.0, error_if_nonfinite=True))  # blocks
case('pad_seq', lambda: torch.nn.utils.rnn.pad_sequence([v, v]))
case('pack_padded', lambda: torch.nn.utils.rnn.pack_padded_sequence(x[:, :, None], torch.full((1024,), 5), batch_first=True, enforce_sorted=False))  # blocks
case('print', lambda: repr(idx))  # blocks
case('split_list', lambda: torch.split(v, [512, 512]))
case('split(tolist)', lambda: torch.split(v, torch.tensor([512, 512], device=dev).tolist()))  # blocks
case('tensor_split_gpu', lambda: torch.tensor_split(v, torch.tensor([5])))
case('stack0d', lambda: torch.stack([s, s]))
case('tensor([gpu])', lambda: torch.tensor([s, s], device=dev))  # blocks
case('cat', lambda: torch.cat([v, v]))
case('block_diag', lambda: torch.block_diag(x, x))
case('combinations', lambda: torch.combinations(v[:10]))  # blocks
case('cdist', lambda: torch.cdist(x, x))
case('quantile', lambda: torch.quantile(vf, 0.5))
case('quantile_t', lambda: torch.quantile(vf, s))
case('median', lambda: vf.median())
case('mode', lambda: vf.mode())
case('std', lambda: vf.std())
case('any', lambda: m.any())
case('x.clamp(gpu)', lambda: x.clamp(max=s))
case('pow', lambda: x ** 2)
case('add_cpu_scalar_t', lambda: x + torch.tensor(1.0))
case('mul_gpu0d', lambda: x * s)
case('add alpha gpu', lambda: torch.add(x, x, alpha=s))  # blocks
case('lerp', lambda: torch.lerp(x, x, s))
case('roll', lambda: torch.roll(x, 3))
case('tril', lambda: x.tril())
case('bernoulli', lambda: torch.bernoulli(torch.rand(10, device=dev)))
case('dropout', lambda: torch.nn.functional.dropout(x))
case('normal_', lambda: x.normal_())
case('torch.cuda.synchronize', lambda: torch.cuda.synchronize())  # blocks, unseen by debug mode
case('stream.sync', lambda: torch.cuda.current_stream().synchronize())  # blocks
case('event.sync', wait_for_event)
case('event.query', query_event)
case('empty_cache', lambda: torch.cuda.empty_cache())
case('mem_stats', lambda: torch.cuda.memory_allocated())
case('mem_get_info', lambda: torch.cuda.mem_get_info())
case('alloc_new', lambda: torch.empty(512 * 1024 * 1024, device=dev))
case('elapsed', elapsed)
case('sparse_coo', lambda: torch.sparse_coo_tensor(torch.stack([v, v]), vf).coalesce())  # blocks 2 or 5 times
case('to_sparse', lambda: x.to_sparse())  # blocks
case('to_dense_csr', lambda: x[:32, :32].to_sparse_csr())  # blocks
case('deepcopy', lambda: copy.deepcopy(x))
case('pickle', lambda: pickle.dumps(small.cuda()))  # blocks
case('save', lambda: torch.save(x, io.BytesIO()))  # blocks
case('manual_seed', lambda: torch.manual_seed(0))
case('rng_state', lambda: torch.cuda.get_rng_state())
case('generator', lambda: torch.rand(3, device=dev, generator=torch.Generator(dev)))
case('amp_unscale', scaled_step)
case('adam_step', optimizer.step)
case('sgd', lambda: None)
case('isnan.any if', lambda: 1 if torch.isnan(x).any() else 0)  # blocks
case('assert_async', lambda: torch._assert_async(m.any() | True))
case('max(gpu list)', lambda: max([s, s]))  # blocks
case('sum(gpu)', lambda: sum([s, s]))
case('min py', lambda: min(5, i0))  # blocks
case('in', lambda: 5 in v)  # blocks
case('iter', lambda: [t for t in v[:5]])
case('len', lambda: len(v))
case('format', lambda: f'{s}')  # blocks
case('format.2f', lambda: f'{s:.2f}')  # blocks
case('zip', lambda: list(zip(v[:3], v[:3])))
case('np.asarray(cpu)', lambda: np.asarray(x.cpu()))  # blocks
case('numel', lambda: v.numel())
case('triu_indices', lambda: torch.triu_indices(10, 10, device=dev))
case('meshgrid', lambda: torch.meshgrid(v, v, indexing='ij'))
case('embedding_bag', lambda: torch.nn.functional.embedding_bag(idx, x, torch.arange(0, 64, 8, device=dev)))
case('interpolate', lambda: torch.nn.functional.interpolate(x[None, None], scale_factor=2))
case('grid', lambda: torch.nn.functional.affine_grid(torch.eye(2, 3, device=dev)[None], (1, 1, 4, 4)))
case('sdpa', lambda: torch.nn.functional.scaled_dot_product_attention(x[None, None], x[None, None], x[None, None]))
case('fft', lambda: torch.fft.fft(x))
case('tril_idx', lambda: torch.tril_indices(10, 10, device=dev))
case('segment', lambda: torch.segment_reduce(vf, 'sum', lengths=torch.full((2,), 512, device=dev)))  # blocks
case('kthvalue', lambda: vf.kthvalue(5))

"""What a guard lets through once runs once, and so does what is only called there."""

from dataclasses import dataclass

import torch


class Runner:
    def __init__(self):
        self._limit = None
        self.ready = False

    def execute_model(self):
        if self._limit is None:
            self._limit = self._read()
        if not self.ready:
            torch.cuda.synchronize()  # expect: SYN401 (once)
            self.ready = True
        if not hasattr(self, "table"):
            torch.cuda.synchronize()  # expect: SYN401 (once)
        is_first = not hasattr(self, "table")
        if is_first:
            torch.cuda.synchronize()  # expect: SYN401 (once)
            self.table = 1
        if self._limit is None:
            return torch.ones(1, device="cuda").item()  # expect: SYN101 (step)
        self._also()
        if not self._ready_too:
            self._also()
            self._ready_too = True
        return self._limit

    def _read(self):
        return self._read_on()

    def _read_on(self):
        return torch.ones(1, device="cuda").item()  # expect: SYN101 (once)

    def _also(self):
        return torch.ones(1, device="cuda").item()  # expect: SYN101 (step)


class Table(torch.nn.Module):
    """What grows, what moves, and what a method of the same object keeps."""

    def forward(self, x, ids):
        self._keep_up(x)
        self._extend(x)
        self._make(x)
        self._finish(x)
        if self.bias is None:
            self._make_bias(x)
        if x.shape[0] > self.shown:
            torch.cuda.synchronize()  # expect: SYN401 (step)
            self.shown = x.shape[0]
        if self.table is not None and self.table.device == x.device:
            torch.cuda.synchronize()  # expect: SYN401 (step)
        else:
            torch.cuda.synchronize()  # expect: SYN401 (once)
            self.table = x.clone()
        return x

    def _keep_up(self, x):
        if x.shape[0] > self.max_size[0] or x.shape[1] > self.max_size[1]:
            self.max_size = tuple(x.shape)
            self._refill()

    def _refill(self):
        torch.cuda.synchronize()  # expect: SYN401 (once)

    def _extend(self, x):
        if self.table is not None and self.table.size(1) >= x.size(1):
            return
        torch.cuda.synchronize()  # expect: SYN401 (once)
        self.table = torch.zeros(x.size(1), device=x.device)

    def _make(self, x):
        if self.made:
            return
        torch.cuda.synchronize()  # expect: SYN401 (once)
        self.made = True

    def _finish(self, x):
        if self.finished:
            return
        torch.cuda.synchronize()  # expect: SYN401 (step)
        self.finished = self.steps > 10

    def _make_bias(self, x):
        self.bias = torch.zeros(3, device=x.device)
        torch.cuda.synchronize()  # expect: SYN401 (once)


@dataclass
class StepMetadata:
    lens: torch.Tensor
    _longest: int | None = None

    @property
    def longest(self):
        if self._longest is not None:
            return self._longest
        self._longest = self.lens.max().item()  # expect: SYN101 (unknown, assumed)
        return self._longest


class Later:
    def execute_model(self, x):
        if not hasattr(torch, "nextafter"):
            torch.cuda.synchronize()  # expect: SYN401 (step)
        return x

    def nobody_calls(self, x):
        if self.table is None:
            self.table = x.clone()
        return self.helper(x)

    def helper(self, x):
        torch.cuda.synchronize()  # expect: SYN401 (unknown)


class Drafts:
    """What is used up in the same call is made again."""

    def execute_model(self, model):
        if self.drafts is None:
            self.drafts = torch.ones(4, device="cuda")
            torch.cuda.synchronize()  # expect: SYN401 (step)
        self.drafts = self.drafts[1:]
        if len(self.drafts) == 0:
            self.drafts = None
        if self.device != model.device:
            self.table = None
        if self.table is None:
            self.table = torch.ones(4, device="cuda")
            torch.cuda.synchronize()  # expect: SYN401 (once)


class Layers:
    """An argument, or what each step puts into an attribute, keeps nothing beyond the step."""

    def __init__(self, pool):
        self.pool = pool

    def execute_model(self, batch, layer):
        self.batch = batch
        if layer.scale is None:
            layer.scale = torch.ones(4, device="cuda").max().item()  # expect: SYN101 (once)
        pool, metadata = self.pool, batch.metadata
        kept = self.pool
        if kept.size is None:
            kept.size = torch.ones(4, device="cuda").max().item()  # expect: SYN101 (once)
        if metadata.size is None:
            metadata.size = torch.ones(4, device="cuda").max().item()  # expect: SYN101 (step)
        held = self.batch
        if held.size is None:
            held.size = torch.ones(4, device="cuda").max().item()  # expect: SYN101 (step)
        if batch.longest is None:
            batch.longest = torch.ones(4, device="cuda").max().item()  # expect: SYN101 (step)
        if getattr(self.batch, "shortest", None) is None:
            self.batch.shortest = torch.ones(4, device="cuda").min().item()  # expect: SYN101 (step)
        if self.pool.total is None:
            self.pool.total = torch.ones(4, device="cuda").sum().item()  # expect: SYN101 (once)
        if Drafts.total is None:
            Drafts.total = torch.ones(4, device="cuda").sum().item()  # expect: SYN101 (once)
        table = batch.table
        if table is None:
            table = batch.table = torch.ones(4, device="cuda").tolist()  # expect: SYN102 (step)
        if batch.key not in batch.tables:
            batch.tables[batch.key] = torch.ones(4, device="cuda").tolist()  # expect: SYN102 (step)


class OfOneStep:
    """An object that each step makes keeps nothing beyond that step."""

    def __init__(self, lens):
        self.lens = lens
        self.longest = None

    def max_len(self):
        if self.longest is None:
            self.longest = self.read()
        return self.longest

    def read(self):
        return torch.ones(4, device="cuda").max().item()  # expect: SYN101 (step)


class OfAll:
    def __init__(self, lens):
        self.longest = None

    def max_len(self):
        if self.longest is None:
            self.longest = torch.ones(4, device="cuda").max().item()  # expect: SYN101 (once)
        return self.longest


class Uses:
    def __init__(self, lens):
        self.all = OfAll(lens)

    def execute_model(self, lens):
        if self.other is None:
            self.other = OfAll(lens)
        return OfOneStep(lens).max_len() + self.all.max_len() + self.other.max_len()


class Lazy(torch.nn.Module):
    """A step clears two flags that the constructor sets, and one that others set."""

    def __init__(self):
        super().__init__()
        self._is_new = True
        self._is_dirty = True

    def forward(self, x):
        if self._is_new:
            self._prepare(x)
            self._is_new = False
        if self._is_dirty:
            torch.cuda.synchronize()  # expect: SYN401 (step)
            self._is_dirty = False
        if self._is_foreign:
            torch.cuda.synchronize()  # expect: SYN401 (step)
            self._is_foreign = False
        self.register_buffer("sizes", torch.tensor([len(x), 2], device=x.device))  # expect: SYN301 (once)
        return x

    def _prepare(self, x):
        torch.cuda.synchronize()  # expect: SYN401 (once)

    def read(self, path):
        return torch.load(path, map_location="cuda")  # expect: SYN302 (once)

    def mark(self):
        self._is_dirty = True


class SetBehind:
    def __init__(self):
        self._ran = False
        self._done = False
        self._seen = False
        self._kept = False

    def forward(self, x: torch.Tensor, again=False):
        x = x.cuda()
        if not self._ran:
            x.any().item()  # expect: SYN101 (once)
        if not self._done:
            x.any().item()  # expect: SYN101 (step)
        if not self._seen:
            x.any().item()  # expect: SYN101 (step)
        if self._kept:
            x.any().item()  # expect: SYN101 (step)
        self._ran = True
        self._done = again
        if again:
            self._seen = True
        self._kept = True
        return x

    def reset(self):
        self._done = False


class LeavesBefore:
    def __init__(self):
        self._ran = False
        self._reset = False

    def forward(self, x: torch.Tensor):
        x = x.cuda()
        if not self._ran:
            x.any().item()  # expect: SYN101 (step)
            return x
        self._ran = True
        if not self._reset:
            x.any().item()  # expect: SYN101 (step)
        self._reset = True
        return x

    def begin(self):
        self._reset, self._count = False, 0


class RunnerSetBehind:
    def execute_model(self, x, part: SetBehind, other: LeavesBefore):
        return part.forward(x), other.forward(x)


class Bounds:
    def step(self, factor, low):
        self.max_norm *= factor
        if self.max_norm < low:
            torch.cuda.synchronize()  # expect: SYN401 (unknown)
            self.max_norm = low

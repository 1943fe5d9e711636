"""What fills a cache that outlives the call runs once for each key."""

import functools
from dataclasses import dataclass, field

import torch

_TABLES = {}
windows, bases = {}, {}
table = None


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cache = {}

    def forward(self, x, key):
        if key not in self.cache:
            self.cache[key] = torch.tensor([1.0, 2.0], device="cuda")  # expect: SYN301 (once)
        table = _TABLES.get(x.device)
        if table is None:
            table = torch.tensor([1.0, 2.0], device="cuda")  # expect: SYN301 (once)
            _TABLES[x.device] = table
        other = self.tables.get(key)
        if not other:
            self.tables[key] = torch.tensor([1.0, 2.0], device="cuda")  # expect: SYN301 (once)
        seen = {}
        if key not in seen:
            seen[key] = torch.tensor([1.0, 2.0], device="cuda")  # expect: SYN301 (step)
        if key not in self.cache:
            return torch.tensor([1.0, 2.0], device="cuda")  # expect: SYN301 (step)
        return self.cache[key] * table * seen[key]


class Pointers(torch.nn.Module):
    def forward(self, key):
        return self.by_name(key), self.by_get(key), self.by_truth(key), self.local(key), self.other(key)

    def by_name(self, key):
        if key in _TABLES:
            return _TABLES[key]
        table = torch.tensor([1.0, 2.0], device="cuda")  # expect: SYN301 (once)
        _TABLES[key] = self.filled(table)
        return _TABLES[key]

    def filled(self, table):
        return table.tolist()  # expect: SYN102 (once)

    def by_get(self, key):
        found = self.cache.get(key)
        if found is not None:
            return found
        self.cache[key] = torch.tensor([1.0, 2.0], device="cuda")  # expect: SYN301 (once)
        return self.cache[key]

    def by_truth(self, key):
        if values := _TABLES.get(key):
            return values
        _TABLES[key] = torch.tensor([1.0, 2.0], device="cuda")  # expect: SYN301 (once)
        return _TABLES[key]

    def local(self, key):
        seen = {}
        if key in seen:
            return seen[key]
        seen[key] = torch.tensor([1.0, 2.0], device="cuda")  # expect: SYN301 (step)
        return seen

    def other(self, key):
        if key in _TABLES:
            print(key)
        _TABLES[key] = torch.tensor([1.0, 2.0], device="cuda")  # expect: SYN301 (step)
        if found := self.cache.get(key):
            return found
        return torch.tensor([1.0, 2.0], device="cuda")  # expect: SYN301 (step)


def spectrum(x: torch.Tensor):
    global table
    if f"{x.device}" not in windows:
        windows[str(x.device)] = torch.hann_window(8).to(x.device)  # expect: SYN302 (once)
    if table is None:
        table = torch.tensor([1.0, 2.0], device=x.device)  # expect: SYN301 (once)
    for key in bases:
        bases = {}
        if key not in bases:
            bases[key] = torch.tensor([1.0, 2.0], device=x.device)  # expect: SYN301 (step)
    return x * windows[str(x.device)] * table


def with_one_of_its_own(x: torch.Tensor, windows):
    if x.device not in windows:
        windows[x.device] = torch.hann_window(8).to(x.device)  # expect: SYN302 (step)

    def inner():
        if x.device not in windows:
            windows[x.device] = torch.hann_window(8).to(x.device)  # expect: SYN302 (step)

    return inner()


class Speech(torch.nn.Module):
    def forward(self, x):
        return spectrum(x) + with_one_of_its_own(x, {})


class Grid(torch.nn.Module):
    """A cache of one entry with its key beside it; a key alone may differ in every step."""

    def forward(self, x, size):
        if self._grid is None or self._size != size:
            self._grid = torch.zeros(size).to(x.device)  # expect: SYN302 (once)
            self._size = size
        if self._last != size:
            torch.cuda.synchronize()  # expect: SYN401 (step)
            self._last = size
        if self._table is None or self._seen != size:
            self._table = torch.zeros(size).to(x.device)  # expect: SYN302 (step)
        return self._grid


class Metadata:
    def forward_with_key(self, sizes: torch.Tensor):
        key = tuple(sizes.shape)
        if self._metadata_key == key:
            return
        self.metadata = torch.tensor([1, 2], device="cuda")  # expect: SYN301 (once)
        self._metadata_key = key

    def forward_with_count(self, sizes: torch.Tensor):
        if self.count == sizes.numel():
            return
        self.metadata = torch.tensor([1, 2], device="cuda")  # expect: SYN301 (step)
        self.count = sizes.numel()

    def forward_without_store(self, sizes: torch.Tensor, key):
        if self.cache_key != key:
            self.metadata = torch.tensor([1, 2], device="cuda")  # expect: SYN301 (step)


@functools.lru_cache(maxsize=8)
def offsets(n: int):
    return torch.arange(n, device="cuda").max().item()  # expect: SYN101 (once)


@functools.wraps(offsets)
def as_offsets(n: int):
    return torch.arange(n, device="cuda").max().item()  # expect: SYN101 (step)


@dataclass
class Plans:
    by_size: dict = field(default_factory=dict)

    def get(self, size: int):
        plan = self.by_size.get(size)
        if plan is None:
            plan = self.make(size)
            self.by_size[size] = plan
        return plan

    def make(self, size: int):
        return torch.arange(size, device="cuda").max().item()  # expect: SYN101 (once)


class Builder:
    def __init__(self):
        self.context = None
        self.plans = Plans()

    def execute_model(self, size):
        offsets(size), as_offsets(size), self.plans.get(size)
        return self.get_context(size), self.by_walrus(size), self.other(size), self.check(), self.check_anew()

    def get_context(self, size):
        context = self.context
        if context is not None:
            return context
        context = torch.arange(size, device="cuda").max().item()  # expect: SYN101 (once)
        self.context = context
        return context

    def by_walrus(self, size):
        if (context := self.last) is not None:
            return context
        self.last = torch.arange(size, device="cuda").max().item()  # expect: SYN101 (once)
        return self.last

    def other(self, size):
        context = self.context
        if context is not None:
            return context
        return torch.arange(size, device="cuda").max().item()  # expect: SYN101 (step)

    def check(self):
        if not getattr(self, "checked", False):
            torch.cuda.synchronize()  # expect: SYN401 (once)
            self.checked = True
        if getattr(self, "table", None) is None:
            torch.cuda.synchronize()  # expect: SYN401 (once)
            self.table = 1

    def check_anew(self):
        if not getattr(self, "found", False):
            torch.cuda.synchronize()  # expect: SYN401 (step)
        if not getattr(self, "seen", True):
            torch.cuda.synchronize()  # expect: SYN401 (step)
            self.seen = True


def cache_unless(maxsize=128):
    def outer(fn):
        cached = functools.lru_cache(maxsize=maxsize)(fn)

        @functools.wraps(fn)
        def inner(*args, **kwargs):
            if torch.compiler.is_compiling():
                return fn(*args, **kwargs)
            return cached(*args, **kwargs)

        return inner

    return outer


def logged(fn):
    @functools.wraps(fn)
    def inner(*args, **kwargs):
        return fn(*args, **kwargs)

    return inner


class Rotation(torch.nn.Module):
    @cache_unless(maxsize=None)
    def frequencies(self, n):
        return torch.tensor([n, 2.0], device="cuda")  # expect: SYN301 (once)

    @logged
    def scales(self, n):
        return torch.tensor([n, 2.0], device="cuda")  # expect: SYN301 (step)

    def forward(self, x, n: int):
        return x * self.frequencies(n) * self.scales(n)

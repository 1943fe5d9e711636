"""What fills a cache that outlives the call runs once for each key."""

import torch

_TABLES = {}


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
        seen = {}
        if key not in seen:
            seen[key] = torch.tensor([1.0, 2.0], device="cuda")  # expect: SYN301 (step)
        if key not in self.cache:
            return torch.tensor([1.0, 2.0], device="cuda")  # expect: SYN301 (step)
        return self.cache[key] * table * seen[key]

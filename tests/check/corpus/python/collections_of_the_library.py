"""deque, defaultdict, chain: what they hold, as far as it is followed."""

import itertools
from collections import OrderedDict, defaultdict, deque

import torch


class Window:
    def __init__(self):
        self.recent: deque[torch.Tensor] = deque(maxlen=4)
        self.by_name: dict[str, torch.Tensor] = {}
        self.queue: list[torch.Tensor] = []

    def push(self, n: int):
        self.recent.append(torch.ones(n, device="cuda"))
        self.queue.append(torch.ones(n, device="cuda"))
        self.by_name.update({"a": torch.ones(n, device="cuda")})

    def read(self):
        self.recent.popleft().tolist()  # expect: SYN102
        self.by_name["b"].tolist()  # expect: SYN102
        for row in itertools.chain.from_iterable([self.queue]):
            row.tolist()  # expect: SYN102
        window = deque([torch.ones(1, device="cuda")])
        window.appendleft(torch.ones(1, device="cuda"))
        window[0].tolist()  # expect: SYN102
        table = defaultdict(list)
        table["a"].append(torch.ones(1, device="cuda"))
        table["a"][0].tolist()  # expect: SYN102
        ordered = OrderedDict(a=torch.ones(1, device="cuda"))
        return ordered["a"].tolist()  # expect: SYN102

"""The containers of `collections` hold what is put into them."""

import collections
from collections import Counter, OrderedDict, defaultdict, deque

import torch


def value():
    return torch.zeros(3, device="cuda").sum()


class History:
    def __init__(self):
        self.by_name = defaultdict(list)
        self.latest = OrderedDict()
        self.window = deque(maxlen=8)
        self.seen = Counter()
        self.recent = defaultdict(lambda: deque(maxlen=4))

    def note(self, name):
        self.by_name[name].append(value())
        self.latest[name] = value()
        self.window.append(value())
        self.seen[name] += 1
        self.recent[name].append(value())

    def report(self):
        for name, values in self.by_name.items():
            print(name, torch.stack(values).mean().item())  # expect: SYN101
        for name, latest in self.latest.items():
            print(name, latest.item())  # expect: SYN101
        print(self.window[0].item())  # expect: SYN101
        print(self.window.popleft().item())  # expect: SYN101
        print(self.recent["x"][-1].item())  # expect: SYN101
        return float(self.seen["x"])  # silent


def local():
    sums = collections.defaultdict(float)
    sums["loss"] += value()
    print(sums["loss"].item())  # expect: SYN101
    groups = {}
    for name in ("a", "b"):
        groups.setdefault(name, []).append(value())
    for name, group in groups.items():
        print(name, group[0].item())  # expect: SYN101
    lists = [[], []]
    lists[0].append(value())
    print(lists[0][0].item())  # expect: SYN101
    on_host = defaultdict(list)
    on_host["x"].append(torch.zeros(3))
    print(on_host["x"][0].sum().item())  # silent


def of_pairs(model: torch.nn.Module, names):
    weights = dict(model.named_parameters())
    print(weights["bias"].sum().item())  # expect: SYN101
    pairs = dict(zip(names, [value(), value()]))
    print(pairs[names[0]].item())  # expect: SYN101
    more = {}
    more.update([("x", value())])
    print(more["x"].item())  # expect: SYN101
    whole = dict([("x", 1.0), ("y", 2.0)])
    print(float(whole["x"]))  # silent

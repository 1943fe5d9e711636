from collections import OrderedDict

import torch


class Output(dict):
    def __getattr__(self, name):
        return self[name]


class Ordered(OrderedDict):
    __getattr__ = OrderedDict.__getitem__


class Own(dict):
    def __getattr__(self, name):
        return self[name]

    def __getitem__(self, key):
        return 0

    def __setitem__(self, key, value):
        pass


def forward(scores):
    output = Output(logits=scores, size=4)
    output["loss"] = scores.sum()
    ordered = Ordered()
    ordered["loss"] = scores.sum()
    own = Own()
    own["loss"] = scores.sum()
    return output, ordered, own


def step():
    output, ordered, own = forward(torch.ones(4, device="cuda"))
    print(output.loss.item())  # expect: SYN101
    print(output["logits"].tolist())  # expect: SYN102
    print(ordered.loss.item())  # expect: SYN101
    print(ordered["loss"].item())  # expect: SYN101
    print(f"{output.size} {own['loss']}")  # silent


step()

"""An augmented assignment changes an item of each container in its own way: a list of numbers takes no tensor."""

import torch


class Batch:
    def __init__(self, lens: list[int]):
        self.lens = [n + 1 for n in lens]

    def on_gpu(self, n: int):
        self.lens = torch.full((n,), 3, device="cuda")

    def shorten(self, i: int, by: torch.Tensor):
        lens = self.lens[:]
        lens[i] -= 1
        if isinstance(lens, list):
            print(f"{lens[0]} {max(lens)}")  # silent
        else:
            print(f"{lens[0]}")  # expect: SYN107
        counts = {"a": 1, "b": 2}
        counts["a"] += 1
        print(f"{counts['a']} {counts['b']}")  # silent
        counts["b"] += by.cuda()
        return f"{counts['b']}"  # expect: SYN107

"""A call of a method may run that of a subclass."""

from typing import Optional

import torch


class Sampler:
    def sample(self, logits):
        raise NotImplementedError

    def run(self, logits):
        return self.sample(logits).tolist()  # expect: SYN102


class Greedy(Sampler):
    def sample(self, logits):
        return logits.argmax(-1)


class Host(Sampler):
    def sample(self, logits):
        return logits.argmax(-1).to("cpu", non_blocking=True)

    def run(self, logits):
        return self.sample(logits).tolist()  # silent


Greedy().run(torch.ones(4, device="cuda"))
Host().run(torch.ones(4, device="cuda"))


class Reduction:
    def reduce(self, rows: torch.Tensor, mask: Optional[torch.Tensor], count: int):
        raise NotImplementedError


class Masked(Reduction):
    def reduce(self, rows, mask, count):
        count.item()  # silent: the method above says that it is a number
        return rows[mask].sum().item()  # expect: SYN101 (assumed), SYN201 (inferred)


class Other(Reduction):
    def reduce(self, lines, mask: list, count):
        return lines.item(), mask.item()  # silent

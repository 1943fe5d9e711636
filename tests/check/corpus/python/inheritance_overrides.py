"""A call of a method may run that of a subclass."""

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

"""Use places a tensor of unknown device: a copy to the host comes from the GPU."""

import torch
from backend import lease


class Policy:
    def __init__(self):
        self.best = None
        self.limit = None

    def remember(self):
        self.best = lease()

    def predict(self, x) -> torch.Tensor:
        return lease(x)

    def act(self, x):
        actions = self.predict(x)
        return actions.cpu().numpy()  # expect: SYN105 (inferred)

    def score(self, x):
        scores = self.predict(x)
        return torch.sigmoid(scores).item()  # expect: SYN101 (assumed)

    def best_on_the_host(self):
        return self.best.detach().cpu().numpy()  # expect: SYN105 (inferred)

    def is_limited(self):
        if self.limit:  # silent: nothing uses this as a tensor
            return True
        return self.limit


def to_the_host(x: torch.Tensor):
    return x.to("cpu")  # expect: SYN105 (inferred)


def of_the_host(x: torch.Tensor):
    return x.cpu()  # silent


of_the_host(torch.zeros(3))

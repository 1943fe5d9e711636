"""An attribute that only a user of the class sets."""

import torch


class Metadata:
    lens: torch.Tensor

    def longest(self):
        return self.lens.max().item()  # expect: SYN101 (inferred)

    def widest(self):
        return self.rows.max().item()  # expect: SYN101 (inferred)


def build(n: int):
    metadata = Metadata()
    metadata.lens = torch.ones(n, device="cuda")
    metadata.rows = torch.ones(n, device="cuda")
    return metadata


def host_build(n: int):
    metadata = Plain()
    metadata.lens = torch.ones(n)
    return metadata


class Plain:
    def longest(self):
        return self.lens.max().item()  # silent

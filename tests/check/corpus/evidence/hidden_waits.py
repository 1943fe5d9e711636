"""A property that waits is explained by the line in it that does."""

import torch


class Metadata:
    def __init__(self):
        self.lens = torch.ones(4, device="cuda")  # at: made

    @property
    def lens_cpu(self):
        return self.lens.cpu()  # expect: SYN105 # at: waits

    def _read(self):
        return self.lens.sum().item()  # expect: SYN101 # at: reads

    @property
    def total(self):
        return self._read()  # at: calls

    @property
    def under_way(self):
        if self.lens.any().to("cpu", non_blocking=True):  # expect: SYN601
            return 1
        return 0


def count(metadata: Metadata):
    return metadata.under_way  # silent


def sums(metadata: Metadata):
    return metadata.total  # expect: SYN501
    # because: calls: `Metadata.total` calls `_read`
    # because: reads: `self.lens.sum().item()` in `Metadata._read` blocks
    # because: made: `torch.ones(4, device="cuda")` places the tensor on the GPU


def run(metadata: Metadata):
    return metadata.lens_cpu  # expect: SYN501 (inferred)
    # because: waits: `self.lens.cpu()` in `Metadata.lens_cpu` blocks
    # because: made: `torch.ones(4, device="cuda")` places the tensor on the GPU

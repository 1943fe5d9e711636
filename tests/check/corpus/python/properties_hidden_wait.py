"""A property whose wait lies in what it calls, or in what it reads."""

import torch


class Metadata:
    def __init__(self):
        self.lens = torch.ones(4, device="cuda")

    def _longest(self):
        return self.lens.max()

    def _read(self):
        return self._longest().item()  # expect: SYN101

    @property
    def longest(self):
        return self._read()

    @property
    def doubled(self):
        return 2 * self.longest  # expect: SYN501 `self.longest`

    @property
    def gpu_longest(self):
        return self._longest()


class Sub(Metadata):
    @property
    def gpu_longest(self):
        return super()._read()


def run(metadata: Metadata, sub: Sub, unknown):
    metadata.longest  # expect: SYN501
    metadata.doubled  # expect: SYN501
    metadata.gpu_longest  # expect: SYN501
    unknown.longest  # silent
    return metadata._read()  # silent: the line that waits is said in the method

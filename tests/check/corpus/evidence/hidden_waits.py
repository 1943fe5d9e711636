"""A property that waits is explained by the line in it that does."""

import torch


class Metadata:
    def __init__(self):
        self.lens = torch.ones(4, device="cuda")  # at: made

    @property
    def lens_cpu(self):
        return self.lens.cpu()  # expect: SYN105 # at: waits


def run(metadata: Metadata):
    return metadata.lens_cpu  # expect: SYN501 (inferred)
    # because: waits: `self.lens.cpu()` in `Metadata.lens_cpu` waits
    # because: made: `torch.ones(4, device="cuda")` puts it there

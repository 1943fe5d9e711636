"""A name that says host decides where paths disagree."""

import torch


class Batch:
    lens_cpu: torch.Tensor | None = None

    def fill(self, other: "Batch", fast: bool):
        lens = torch.ones(4) if fast else torch.ones(4, device="cuda")
        self.lens_cpu = lens

    def most(self):
        return self.lens_cpu.max().item()  # silent

"""A name that promises a place is believed of the tensor in an optional, too."""

import torch


def run(lens_cpu: torch.Tensor | None, rows_gpu: torch.Tensor | None, rows: torch.Tensor | None = None):
    if lens_cpu is not None:
        lens_cpu.tolist()  # silent
    if rows_gpu is not None:
        rows_gpu.tolist()  # expect: SYN102 (assumed)
    if rows is not None:
        rows.tolist()  # expect: SYN102 (assumed)

"""A name that promises the host is believed where nothing else is known."""

import torch
from backend import lease


class Batch:
    def __init__(self, lens_cpu: torch.Tensor, rows: torch.Tensor):
        self.lens_cpu = lens_cpu
        self.rows = rows
        self.table_np = lease()

    def read(self, ids_host: torch.Tensor, cpu_mask: torch.Tensor, pages_pinned: torch.Tensor):
        self.lens_cpu.tolist()  # silent
        self.rows.tolist()  # expect: SYN102 (assumed)
        ids_host.tolist()  # silent
        cpu_mask.tolist()  # silent
        pages_pinned.tolist()  # silent
        kept_cpu_copy = lease()
        kept_cpu_copy.tolist()  # silent
        torch.zeros(4, device="cuda")[self.table_np]  # expect: SYN305
        return torch.ones(4, device="cuda")[ids_host]  # expect: SYN305 (assumed)

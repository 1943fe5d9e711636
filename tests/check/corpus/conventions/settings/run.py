import torch
from backend import lease


def run(h_lens: torch.Tensor, lens_cpu: torch.Tensor):
    h_lens.tolist()  # silent
    lens_cpu.tolist()  # expect: SYN102 (assumed)
    d_rows = lease()
    d_rows.tolist()  # expect: SYN102 (assumed)
    rows_gpu = lease()
    return rows_gpu.tolist()  # silent

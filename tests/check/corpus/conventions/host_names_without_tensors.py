"""A name that says host makes nothing of what is not known, unless it says CPU or NumPy; a tensor is no list, whatever its name."""

import torch
from backend import lease


def run():
    gpu = torch.ones(4, device="cuda")
    ids_host = lease()
    gpu[ids_host]  # silent: a list or a tensor
    lens_cpu = lease()
    gpu[lens_cpu]  # expect: SYN305 (assumed)
    rows_np = lease()
    gpu[rows_np]  # expect: SYN305
    table_host = torch.relu(lease())
    table_host.tolist()  # silent
    rows_list = torch.relu(lease())
    rows_list.tolist()  # expect: SYN102 (assumed)
    plain = torch.relu(lease())
    plain.tolist()  # expect: SYN102 (assumed)
    other_gpu = torch.relu(lease())
    return other_gpu.tolist()  # expect: SYN102 (assumed)

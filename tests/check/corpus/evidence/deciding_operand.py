"""Of several operands the one on the GPU explains; where paths meet, it is no surer than any of them."""

import torch


def run(fast: bool, where):
    host = torch.ones(4)
    gpu = torch.ones(4, device="cuda")  # at: gpu
    (host.sum() + gpu).tolist()  # expect: SYN102 (proved)
    # because: gpu: `torch.ones(4, device="cuda")` places the tensor on the GPU
    other = torch.ones(4, device="cuda")
    (gpu + other).tolist()  # expect: SYN102 (proved)
    # because: gpu: `torch.ones(4, device="cuda")` places the tensor on the GPU
    either = host if fast else gpu
    either.tolist()  # expect: SYN102 (inferred)
    # because: gpu: `torch.ones(4, device="cuda")` places the tensor on the GPU
    rows = torch.ones(4, device=where)
    both = rows if fast else gpu
    both.tolist()  # expect: SYN102 (inferred)
    # because: gpu: `torch.ones(4, device="cuda")` places the tensor on the GPU
    index = torch.arange(4, device=where)  # at: index
    gpu[index[0]]  # expect: SYN106 (inferred)
    # because: index: `torch.arange(4, device=where)` places the tensor on a device chosen at run time, assumed to be the GPU
    return gpu[torch.arange(2)]  # expect: SYN305 (proved)

"""Of several operands the one on the GPU explains; where paths meet, it is no surer than any of them."""

import torch


def run(fast: bool, where):
    host = torch.ones(4)
    gpu = torch.ones(4, device="cuda")  # at: gpu
    (host.sum() + gpu).tolist()  # expect: SYN102 (proved)
    # because: gpu: `torch.ones(4, device="cuda")` puts it there
    other = torch.ones(4, device="cuda")
    (gpu + other).tolist()  # expect: SYN102 (proved)
    # because: gpu: `torch.ones(4, device="cuda")` puts it there
    either = host if fast else gpu
    either.tolist()  # expect: SYN102 (inferred)
    # because: gpu: `torch.ones(4, device="cuda")` puts it there
    rows = torch.ones(4, device=where)
    both = rows if fast else gpu
    both.tolist()  # expect: SYN102 (inferred)
    # because: gpu: `torch.ones(4, device="cuda")` puts it there
    index = torch.arange(4, device=where)  # at: index
    gpu[index[0]]  # expect: SYN106 (inferred)
    # because: index: `torch.arange(4, device=where)` puts it on a device that the run decides, taken for the GPU
    return gpu[torch.arange(2)]  # expect: SYN305 (proved)

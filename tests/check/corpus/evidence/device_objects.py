"""A device that has a name of its own is named where it was made, and where it was used."""

import torch

device = torch.device("cuda")  # at: named
lens = torch.ones(4, device=device)  # at: made
lens.tolist()  # expect: SYN102 (proved)
# because: made: `torch.ones(4, device=device)` places the tensor on the GPU
# because: named: this line names the device


def run(where: torch.device):
    rows = torch.ones(4, device=where)  # at: decided
    rows.tolist()  # expect: SYN102 (inferred)
    # because: decided: `torch.ones(4, device=where)` places the tensor on a device chosen at run time, assumed to be the GPU
    again = torch.ones(4, device=rows.device)  # at: again
    again.tolist()  # expect: SYN102 (inferred)
    # because: again: `torch.ones(4, device=rows.device)` places the tensor on the GPU
    # because: decided: `torch.ones(4, device=where)` places the tensor on a device chosen at run time, assumed to be the GPU
    current = torch.ones(4, device=torch.cuda.current_device())  # at: current
    return current.tolist()  # expect: SYN102 (proved)
    # because: current: the call uses the current CUDA device

"""A tensor without elements has nothing to copy, whichever way; one whose number of elements nobody shows may have some."""

import torch


def run(device: torch.device, n: int, flag: bool, gpu: torch.Tensor):
    torch.Tensor([]).to("cuda")  # silent
    torch.Tensor().to(device)  # silent
    torch.FloatTensor().cuda()  # silent
    shape = (n, 4)
    torch.Tensor(*shape).to("cuda")  # expect: SYN302
    torch.tensor([]).to(device)  # silent
    torch.tensor(data=()).cuda()  # silent
    torch.tensor([], device="cuda").cpu()  # silent
    torch.empty(0).to("cuda")  # silent
    torch.empty((0, n)).to("cuda")  # silent
    torch.zeros(n, 0, device="cuda").tolist()  # silent
    torch.zeros(0, device="cuda").to("cpu")  # silent
    torch.zeros(8, device="cuda").new_tensor([])  # silent
    torch.zeros(0, device="cuda").nonzero()  # expect: SYN202
    torch.Tensor([1]).to("cuda")  # expect: SYN302
    torch.empty(n).to("cuda")  # expect: SYN302
    rows = []
    rows.append(n)
    torch.tensor(rows).to("cuda")  # expect: SYN302
    either = torch.empty(0) if flag else torch.empty(8)
    either.to("cuda")  # expect: SYN302
    kept = torch.empty(0)
    kept = torch.cat([kept, torch.zeros(n)])
    kept.to("cuda")  # expect: SYN302
    grown = torch.empty(0, device="cuda")
    grown.resize_(n)
    grown.cpu()  # expect: SYN105
    order = torch.empty(0, dtype=torch.long, device="cuda")
    torch.cat([torch.zeros(n, dtype=torch.long, device="cuda")], out=order)
    order.tolist()  # expect: SYN102
    data = torch.tensor([], dtype=torch.long, device=gpu.device)
    data.to("cpu", non_blocking=True)  # silent
    told = torch.empty(0, device="cuda") if flag else unknown()
    told.cpu()  # expect: SYN105
    if flag:
        other = unknown()
    else:
        other = torch.empty(0, device="cuda")
    other.cpu()  # expect: SYN105


class Kept:
    def __init__(self):
        self.kept = torch.empty(0, device="cuda")

    def read(self):
        return self.kept.cpu()  # expect: SYN105

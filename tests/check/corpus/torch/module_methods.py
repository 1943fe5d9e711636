"""Methods that a module inherits give the module itself, wherever they move it."""

import torch
from torch import nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.ones(4))

    def read(self):
        return self.table.tolist()  # expect: SYN102


head = Head()
head.to("cuda").table.tolist()  # expect: SYN102
head.cuda().table.tolist()  # expect: SYN102
head.half().table.tolist()  # expect: SYN102
head.float().table.tolist()  # expect: SYN102
head.bfloat16().table.tolist()  # expect: SYN102
head.eval().table.tolist()  # expect: SYN102
head.train().table.tolist()  # expect: SYN102
head.requires_grad_(False)  # silent
nn.Linear(4, 4).to("cuda")(torch.ones(4, device="cuda")).tolist()  # expect: SYN102
nn.Linear(4, 4).cuda().half()(torch.ones(4, device="cuda")).tolist()  # expect: SYN102
nn.Linear(4, 4).eval().float().train()(torch.ones(4, device="cuda")).tolist()  # expect: SYN102
nn.Linear(4, 4).forward(torch.ones(4, device="cuda")).tolist()  # expect: SYN102
nn.Linear(4, 4)(torch.ones(4)).tolist()  # silent


class Moved(nn.Module):
    def __init__(self):
        super().__init__()
        super().register_buffer("table", torch.ones(4))
        self.lens = torch.ones(4, device="cuda")

    def to(self, device):
        moved = super().to(device)
        print(moved.lens)  # expect: SYN107
        return moved

    def _apply(self, function):
        this = super()._apply(function)
        print(this.lens.tolist())  # expect: SYN102
        return this

    def read(self):
        for _, parameter in super().named_parameters():
            print(parameter)  # expect: SYN107
        return self.table.tolist()  # expect: SYN102

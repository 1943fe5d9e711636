"""A method that is called by the name of its class makes what it says, whatever object it is given."""

import torch


class Gpu:
    def __init__(self):
        self.rows = torch.ones(4, device="cuda")

    def another(self):
        return Gpu()


class Host:
    def __init__(self):
        self.rows = torch.ones(4)


Gpu.another(Host()).rows.tolist()  # expect: SYN102
Gpu().another().rows.tolist()  # expect: SYN102
Gpu.another(None).rows.tolist()  # expect: SYN102
Host().rows.tolist()  # silent

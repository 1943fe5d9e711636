"""What is said of buffers and parameters."""

import numpy as np
import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.from_numpy(np.zeros(4)))  # at: buffer
        self.weight = nn.Parameter(torch.ones(4, device="cpu"))  # at: weight
        self.made = nn.Parameter(torch.ones(4))  # at: made

    def forward(self):
        self.table.tolist()  # expect: SYN102 (inferred)
        # because: buffer: buffer `table` moves with its module
        self.weight.tolist()  # expect: SYN102 (inferred)
        # because: weight: a parameter is on the device of its module
        self.made.tolist()  # expect: SYN102 (inferred)
        # because: made: a parameter is on the device of its module
        for parameter in self.parameters():  # at: loop
            parameter.tolist()  # expect: SYN102 (inferred)
            # because: loop: the parameters of a module move to the GPU with the module

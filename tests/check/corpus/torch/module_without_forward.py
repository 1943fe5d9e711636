"""A module whose forward is not in the project works where its input is."""

import torch
from backend import FusedBase
from torch import nn


class Stack(nn.Sequential):
    pass


class Mine(nn.Module):
    pass


class Fused(FusedBase):
    pass


Stack(nn.ReLU())(torch.ones(4, device="cuda")).tolist()  # expect: SYN102
Mine()(torch.ones(4, device="cuda")).tolist()  # expect: SYN102
Mine()(torch.ones(4)).tolist()  # silent
Mine()([torch.ones(4, device="cuda")]).tolist()  # expect: SYN102
Mine()(4).tolist()  # silent
Fused()(torch.ones(4, device="cuda")).tolist()  # silent: no module as far as is known

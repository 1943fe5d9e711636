"""Parameters of layers of torch, and their other methods."""

import torch
from torch import nn


def run():
    layer = nn.Linear(4, 4).to("cuda")  # expect: SYN302
    for parameter in layer.parameters():
        parameter.norm().item()  # expect: SYN101
    layer.extra_repr().tolist()  # silent
    layer.some_attribute.tolist()  # silent
    nn.Sequential(layer, nn.ReLU())(torch.ones(4, device="cuda")).tolist()  # expect: SYN102
    nn.Embedding(8, 4)(torch.ones(4, device="cuda")).tolist()  # expect: SYN102
    nn.utils.some_helper(torch.ones(4, device="cuda"))  # silent
    torch.nn.init.zeros_(torch.ones(4, device="cuda")).tolist()  # expect: SYN102
    loss = nn.CrossEntropyLoss()
    return loss(torch.ones(4, device="cuda"), torch.ones(4, device="cuda")).item()  # expect: SYN101

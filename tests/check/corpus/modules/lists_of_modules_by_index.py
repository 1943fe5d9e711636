"""A list of modules or parameters reads its index on the host, as a list of Python does."""

import torch
from torch import nn


class Router(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(4, 4) for _ in range(8))
        self.scales = nn.ParameterList([nn.Parameter(torch.zeros(4))])
        self.layers = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        self.named = nn.ModuleDict({"a": nn.Linear(4, 4)})

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        best = x.argmax()
        x = self.experts[best](x)  # expect: SYN106
        x = x * self.scales[best]  # expect: SYN106
        x = self.layers[:best](x)  # expect: SYN106
        x = self.experts[0](x) + self.scales[-1]
        return self.named["a"](self.layers[:1](x))


def route(x: torch.Tensor, experts: nn.ModuleList) -> torch.Tensor:
    return experts[x.argmax()](x)  # expect: SYN106


router = Router().cuda()  # expect: SYN302
inputs = torch.ones(4, device="cuda")
router(inputs)
route(inputs, router.experts)

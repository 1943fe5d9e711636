"""Parameters that a module registers by keyword, or through a method of its own."""

import torch
from torch import nn


class Base(nn.Module):
    def register_parameter(self, name: str, parameter: nn.Parameter | None) -> None:
        super().register_parameter(name, parameter)


class Scaled(Base):
    def __init__(self):
        super().__init__()
        self.register_parameter(name="scale", parameter=nn.Parameter(torch.ones(1)))
        self.register_buffer(name="seen", tensor=torch.zeros(1), persistent=False)

    def forward(self, x):
        if self.seen:  # expect: SYN104
            return x
        return x * self.scale.item()  # expect: SYN101

    def set(self, value):
        if not torch.is_tensor(value):
            value = torch.as_tensor(value).to(self.scale)  # expect: SYN302
        self.scale.data.fill_(value)

"""To move a module is no move of a tensor."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x)


def build(state):
    model = Model().to("cuda").half().eval()  # expect: SYN302
    model.cuda().train()  # silent
    model.load_state_dict(state)  # silent
    out = model(torch.ones(4, device="cuda"))
    out.tolist()  # expect: SYN102
    compiled = torch.compile(model)
    compiled(torch.ones(4, device="cuda")).tolist()  # expect: SYN102
    return model.state_dict(), model.children()  # silent

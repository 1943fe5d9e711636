"""A module may have been moved by who got it, through its parts, or with the object around it."""

import torch
from torch import nn

DEVICE = torch.device("cuda")


class B(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(3, 3)


def prepare(m):
    m.to(DEVICE)
    return m


a = B()
a = prepare(a)
a = a.to(DEVICE)  # silent
a = torch.compile(prepare(a))
a = a.to(DEVICE)  # silent
a = prepare(B())
a.to(DEVICE)  # silent
b = B()
for c in b.children():
    c.to(DEVICE)
b = b.to(DEVICE)  # silent
c = B()
c.apply(lambda x: x.to(DEVICE))
c = c.to(DEVICE)  # silent
d = B()
for p in d.parameters():
    p.data = p.data.to(DEVICE)
d = d.to(DEVICE)  # silent


class H(nn.Module):
    def __init__(self):
        super().__init__()
        self.m = B()
        self.place()
        self.m = self.m.to(DEVICE)  # silent
        self.n = B()
        self.cuda()
        self.n = self.n.to(DEVICE)  # silent

    def place(self):
        self.m.to(DEVICE)


h = H()
h.m = B()
h.to(DEVICE)
h.m = h.m.to(DEVICE)  # silent
e = B()
e.load_state_dict(h.m.state_dict(), assign=True)
e = e.to(DEVICE)  # silent
f = B()
n = sum(p.numel() for p in f.parameters())
f.apply(print)
f = f.to(DEVICE)  # expect: SYN302

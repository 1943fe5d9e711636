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


class Cast(nn.Module):
    def __init__(self, rows, dtype):
        super().__init__()
        self.l = nn.Linear(3, 3)
        self.rows = rows.to(torch.float32)
        self.more = rows.to(dtype=dtype, copy=True)
        self.same = rows.to(rows.device)
        self.like = rows.to(self.rows.dtype)


i = Cast([], torch.half)
i = i.to(DEVICE)  # expect: SYN302


class Moved(nn.Module):
    def __init__(self, rows):
        super().__init__()
        self.l = nn.Linear(3, 3)
        self.l.to(DEVICE)  # expect: SYN302


j = Moved([])
j = j.to(DEVICE)  # silent


class Placed(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.l = nn.Linear(3, 3)
        self.l.device = DEVICE
        self.l.to(self.l.device)  # expect: SYN302


k = Placed([])
k = k.to(DEVICE)  # silent


def placed():
    made = B()
    made.device = DEVICE
    made.to(made.device)  # expect: SYN302
    return made


m = placed()
m = m.to(DEVICE)  # silent

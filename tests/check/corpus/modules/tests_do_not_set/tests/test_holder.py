import torch
from holder import Holder


def make():
    return torch.ones(4, device="cuda")


def test_holder():
    holder = Holder()
    holder.lens = make()
    holder.extra = make()
    assert holder.read() == make().tolist()  # expect: SYN102
    passed(make())


def passed(t):
    return t.tolist()  # expect: SYN102

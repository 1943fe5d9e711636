"""What a class body binds is forgotten behind it, and what stands behind it is the module's again."""

import torch

t = torch.ones(1)


class Holder:
    t = torch.ones(1, device="cuda")
    t.item()  # expect: SYN101

    class Inner:
        t = torch.ones(1)
        t.item()  # silent

    late = torch.ones(1, device="cuda")

    def read(self):
        return self.late.item()  # expect: SYN101


t.item()  # silent
after = torch.ones(1, device="cuda")


def read():
    return after.item()  # expect: SYN101


def local():
    class Base:
        def make(self):
            return torch.ones(1, device="cuda")

    class Sub(Base):
        def read(self):
            return self.make().item()  # expect: SYN101

    kept = torch.ones(1, device="cuda")
    kept.item()  # expect: SYN101
    return Sub

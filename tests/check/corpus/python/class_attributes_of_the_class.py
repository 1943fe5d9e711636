"""Attributes of the class itself, and of a class that is kept in a variable."""

import torch


class Cache:
    rows = torch.ones(4, device="cuda")
    limit = 4

    @classmethod
    def fill(cls):
        cls.more = torch.ones(4, device="cuda")
        cls.rows.tolist()  # expect: SYN102
        return cls.more.tolist()  # expect: SYN102


Cache.rows.tolist()  # expect: SYN102
Cache.more.tolist()  # expect: SYN102
Cache.late = torch.ones(1, device="cuda")
Cache.late.tolist()  # expect: SYN102
kind = Cache
kind.rows.tolist()  # expect: SYN102
kind().rows.tolist()  # expect: SYN102
read = Cache().fill
read()
torch.zeros(4, device="cuda")[Cache.limit] = 1  # expect: SYN306


def later():
    return Cache.late.tolist()  # expect: SYN102

"""What is put under a key that is not known may be under any, and goes where the dictionary goes."""

import torch


def put(key):
    d = {"host": torch.ones(4)}
    d[key] = torch.ones(4, device="cuda")
    d["other"].tolist()  # expect: SYN102
    return d["host"].tolist()  # expect: SYN102


def updated(key):
    d = {"host": torch.ones(4)}
    d[key] = torch.ones(4, device="cuda")
    e = {"size": 3}
    e.update(d)
    e["late"].tolist()  # expect: SYN102
    return e["size"]


def both(key, other):
    d = {"size": 3}
    d[key] = torch.ones(4, device="cuda")
    e = {"size": 3}
    e[other] = torch.ones(4)
    d.update(e)
    return d["late"].tolist()  # expect: SYN102


def merged(key):
    d = {"host": torch.ones(4)}
    d[key] = torch.ones(4, device="cuda")
    e = {"size": 3, **d}
    f = {"size": 3} | d
    e["late"].tolist()  # expect: SYN102
    return f["late"].tolist()  # todo: SYN102


def known():
    d = {"gpu": torch.ones(4, device="cuda")}
    e = {"host": torch.ones(4)}
    e.update(d)
    e["gpu"].tolist()  # expect: SYN102
    e["late"].tolist()  # silent
    return e["host"].tolist()  # silent

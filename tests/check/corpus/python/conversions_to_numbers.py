"""What Python's functions give is a number, and a store of one is an upload."""

import math
import operator

import torch


def run(name: str, rows: list[int], flag):
    gpu = torch.zeros(8, device="cuda")
    gpu[int(name)] = 1  # expect: SYN306
    gpu[len(rows)] = 1  # expect: SYN306
    gpu[ord(name)] = 1  # expect: SYN306
    gpu[hash(name)] = id(name)  # expect: SYN306
    gpu[0] = float(name)  # expect: SYN306
    gpu[0] = round(1.5)  # expect: SYN306
    gpu[0] = complex(name)  # expect: SYN306
    gpu[0] = bool(flag)  # expect: SYN306
    gpu[0] = isinstance(flag, int)  # expect: SYN306
    gpu[0] = hasattr(flag, "x")  # expect: SYN306
    gpu[0] = callable(flag)  # expect: SYN306
    gpu[math.ceil(1.5)] = math.sqrt(2)  # expect: SYN306
    gpu[math.floor(1.5)] = math.log(2)  # expect: SYN306
    gpu[math.prod(rows)] = math.exp(2)  # expect: SYN306
    gpu[math.gcd(4, 2)] = math.pow(2, 3)  # expect: SYN306
    gpu[operator.index(flag)] = math.log2(4)  # expect: SYN306
    gpu[0] = not flag  # expect: SYN306
    gpu[0] = flag is None  # expect: SYN306
    gpu[0] = 1 in rows  # expect: SYN306
    gpu[0] = -1.5  # expect: SYN306
    gpu[0] = 2j  # expect: SYN306
    gpu[0] = 1 < 2  # expect: SYN306
    gpu[0] = flag < 2  # silent
    gpu[min(1, 2)] = max(rows)  # expect: SYN306
    gpu[next(iter(rows))] = sum(rows)  # expect: SYN306
    for row in range(4):
        gpu[row] = 1  # expect: SYN306
    torch.ones(4, device=str(flag)).tolist()  # expect: SYN102 (inferred)
    torch.ones(4, device=repr(flag)).tolist()  # expect: SYN102 (inferred)
    torch.ones(4, device=format(flag)).tolist()  # expect: SYN102 (inferred)
    torch.ones(4, device="{}".format(flag)).tolist()  # expect: SYN102 (inferred)
    return torch.ones(4, device="cuda:%d" % flag).tolist()  # expect: SYN102 (inferred)

"""The names under which isinstance is asked for tensors, arrays and Python's own."""

import numpy
import numpy as np
import torch
import torch as th
from torch import Tensor


def run(kind: int):
    t = torch.ones(4, device="cuda")
    a = t if kind else {"a": t}
    if isinstance(a, dict):
        return a["a"].tolist()  # expect: SYN102
    a.tolist()  # expect: SYN102
    b = t if kind else np.ones(4)
    if isinstance(b, Tensor):
        b.tolist()  # expect: SYN102
    if isinstance(b, np.ndarray):
        b.tolist()  # silent
    else:
        b.tolist()  # expect: SYN102
    if not isinstance(b, numpy.ndarray):
        b.tolist()  # expect: SYN102
    if isinstance(b, th.Tensor):
        b.tolist()  # expect: SYN102
    c = t if kind else 1.0
    if isinstance(c, float):
        c.item()  # silent
    elif isinstance(c, bool):
        c.item()  # silent
    elif not isinstance(c, int):
        c.item()  # expect: SYN101
    d = t if kind else "text"
    if not isinstance(d, str):
        d.tolist()  # expect: SYN102
    e = t if kind else [t]
    if isinstance(e, list):
        e[0].tolist()  # expect: SYN102
        torch.zeros(4, device="cuda")[e]  # silent: a list of tensors stands for a tuple
    f = t if kind else (t, t)
    if isinstance(f, tuple):
        f, _ = f
    f.tolist()  # expect: SYN102
    if isinstance(f, (list, torch.Tensor)):
        f.tolist()  # expect: SYN102
    return None

"""What an annotation says to be a number or a tensor waits for the callers that pass a tensor of the GPU."""

from typing import Optional, Union

import numpy as np
import torch


def few(count: Union[int, torch.Tensor]) -> bool:
    if count < 2:  # expect: SYN104
        return True
    if isinstance(count, int):
        return bool(count)  # silent: it is no tensor here
    return bool(count == 4)  # expect: SYN103


def maybe(scale: Optional[float | torch.Tensor] = None):
    if scale is None:
        return 1.0
    return float(scale)  # expect: SYN103


def numbers(count: Union[int, torch.Tensor]) -> bool:
    return count < 2 or bool(count)  # silent: nobody passes a tensor


def on_the_host(count: Union[int, torch.Tensor]) -> bool:
    return bool(count < 2)  # silent


def undeclared(count) -> bool:
    if count < 2:  # silent: what is passed may be items of one list
        return True
    return False


few(3)
few(torch.tensor(3.0, device="cuda"))  # expect: SYN301
maybe(2.0)
maybe(torch.rand((), device="cuda"))
numbers(2)
on_the_host(2)
on_the_host(torch.tensor(2))
undeclared(2)
undeclared(torch.rand((), device="cuda"))


def total(norms) -> float:
    found = 0.0
    for norm in norms:
        found += norm
    print(float(found))  # expect: SYN103
    return found.item()  # expect: SYN101


def listed(found):
    """No number of Python has `tolist`; NumPy's have."""
    if found > 2:  # silent
        return []
    return found.tolist()  # expect: SYN102


def listed_of_numpy(found):
    return found.tolist()  # silent


total([torch.rand((), device="cuda")])
listed(2)
listed(torch.rand(3, device="cuda"))
listed_of_numpy(np.arange(3).max())
listed_of_numpy(torch.rand(3, device="cuda"))

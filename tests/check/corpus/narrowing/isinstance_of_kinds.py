"""isinstance tells tensors, arrays, numbers and lists apart."""

import numpy as np
import torch
from backend import lease


def total(value):
    if isinstance(value, torch.Tensor):
        return value.sum().item()  # expect: SYN101
    if isinstance(value, np.ndarray):
        return value.sum().item()  # silent
    if isinstance(value, (int, float)):
        return value
    return sum(value)


total(torch.ones(4, device="cuda"))
total(np.ones(4))
total(4)
total([1, 2])


def moved(value):
    value = value.to("cuda")
    if isinstance(value, torch.Tensor):
        return value.tolist()  # expect: SYN102
    return value.tolist()  # false: SYN102


def array():
    value = lease()
    if isinstance(value, np.ndarray):
        return torch.zeros(4, device="cuda")[value]  # expect: SYN305
    if isinstance(bound := lease(), np.ndarray):
        return torch.zeros(4, device="cuda")[bound]  # todo: SYN305
    return torch.zeros(4, device="cuda")[value]  # silent


def numbers():
    value = lease()
    if isinstance(value, list):
        return torch.zeros(4, device="cuda")[value]  # expect: SYN305
    if isinstance(value, int):
        torch.zeros(4, device="cuda")[value] = 1  # expect: SYN306
    if isinstance(value, str):
        return torch.zeros(4, device=value).tolist()  # expect: SYN102
    return torch.zeros(4, device="cuda")[value]  # silent


def only_asked():
    value = lease()
    if isinstance(value, list):
        value = value.copy()
    return torch.zeros(4, device="cuda")[value]  # false: SYN305


def of_one_kind(device: str):
    value = torch.as_tensor(lease(), device="cuda")
    if not isinstance(value, torch.Tensor):
        return value == 1 or value.tolist()  # silent
    if not torch.is_tensor(value) and value == 2:
        return bool(value == 3)  # silent
    return bool(value == 4)  # expect: SYN103


def made_where_it_is_none(value):
    if not torch.is_tensor(value):
        value = torch.tensor([value], device="cuda")  # silent: a list of what none of the callers passes
    return value.item()  # expect: SYN101


made_where_it_is_none(torch.ones(1))


def any_of(value):
    if torch.is_tensor(value):
        return value.tolist()  # expect: SYN102
    return value.tolist()  # silent


any_of([torch.ones(4, device="cuda"), np.ones(4)][lease()])

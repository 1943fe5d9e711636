"""The name of a device that a function gives is still that name."""

import torch


def gpu_name():
    return "cuda:1"


def host_name():
    return "cpu"


def no_place():
    return "meta"


def any_name():
    return input()


def on(where):
    return torch.zeros(4, device=where)


torch.zeros(4, device=gpu_name()).tolist()  # expect: SYN102 (proved)
torch.zeros(4, device=host_name()).tolist()  # silent
torch.zeros(4, device=no_place()).tolist()  # silent
torch.zeros(4, device=any_name()).tolist()  # expect: SYN102 (inferred)
on("cuda").tolist()  # expect: SYN102

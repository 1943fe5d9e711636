import torch


def read():
    return torch.ones(1, device="cuda").item()  # silent: a file for other hardware

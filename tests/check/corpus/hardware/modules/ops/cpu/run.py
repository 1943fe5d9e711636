import torch


def read():
    return torch.ones(1, device="cuda").item()  # silent: a backend for the CPU

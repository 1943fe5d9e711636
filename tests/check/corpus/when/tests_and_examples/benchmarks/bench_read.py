import torch


def main():
    for _ in range(10):
        torch.ones(1, device="cuda").item()  # expect: SYN101 (test)

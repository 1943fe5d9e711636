"""What stands in a module for conversion runs once, whatever its decorators, unless a step calls it."""

import torch


@torch.inference_mode()
def measure():
    return torch.zeros(1, device="cuda").item()  # expect: SYN101 (once)


def shared():
    return torch.zeros(1, device="cuda").item()  # expect: SYN101 (step)
    # reached: step > shared

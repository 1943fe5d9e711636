"""What makes an object may run without gradients too: then its class's other methods tell whether that happens once."""

import torch


class Cache:
    @torch.inference_mode()
    def __init__(self):
        self.length = torch.zeros(1, device="cuda").item()  # expect: SYN101 (unknown)

    def read(self):
        return torch.zeros(1, device="cuda").item()  # expect: SYN101 (unknown)


class Engine:
    @torch.inference_mode
    def __init__(self):
        self.length = torch.zeros(1, device="cuda").item()  # expect: SYN101 (once)

    @torch.inference_mode
    def decode(self):
        return torch.zeros(1, device="cuda").item()  # expect: SYN101 (step)

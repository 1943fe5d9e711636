"""A test that compares with names of other hardware only, on either side."""

import torch


def run(device: str, platform):
    gpu = torch.zeros(3, device="cuda")
    if device in ("npu", "xpu"):
        gpu.item()  # silent
    if device in ("npu", "cuda"):
        gpu.item()  # expect: SYN101
    if device != "npu":
        gpu.item()  # expect: SYN101
    if device not in ("cuda",):
        gpu.item()  # expect: SYN101
    if platform.is_npu():
        gpu.item()  # silent
    if not platform.is_cuda_alike():
        gpu.item()  # silent

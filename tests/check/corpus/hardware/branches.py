"""A branch for other hardware is not followed."""

import torch
from platforms import current_platform, is_torch_npu_available


def _gathered(t):
    return t.item()  # silent: only called for other hardware


def run(t: torch.Tensor, kind: str):
    t = torch.ones(4, device="cuda")
    if t.device.type == "neuron":
        return _gathered(t)
    if not torch.cuda.is_available():
        return t.sum().item()  # silent
    if current_platform.is_xpu() and t.any():  # silent
        t = t.cpu()
    if kind in ("npu", "hpu") or is_torch_npu_available():
        t.tolist()  # silent
    if current_platform.is_rocm() or current_platform.is_xpu():
        t.tolist()  # expect: SYN102
    most = t.max().item() if not current_platform.is_tpu() else t.tolist()  # expect: SYN101
    assert current_platform.is_cuda_alike()
    return most, t.tolist()  # expect: SYN102


def elsewhere(t):
    assert current_platform.is_cpu()
    return torch.ones(4, device="cuda").tolist()  # silent


def by_a_flag(x=torch.ones(3, device="cuda")):
    x_is_mps_xpu = x.device.type in ["mps", "xpu"]
    if x_is_mps_xpu:
        x.cpu()  # silent
    is_mps = x.device.type == "mps"
    return x.cpu() if is_mps else x.tolist()  # expect: SYN102

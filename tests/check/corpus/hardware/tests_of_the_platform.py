"""Each way to ask for other hardware, and ways to ask for the GPU."""

import torch
from platforms import current_platform, is_npu, is_xpu_available, on_gaudi


def run(device: torch.device, kind: str):
    t = torch.ones(4, device="cuda")
    if is_npu():
        t.tolist()  # silent
    if is_xpu_available:
        t.tolist()  # silent
    if torch.xpu.is_available():
        t.tolist()  # silent
    if torch.backends.mps.is_available():
        t.tolist()  # silent
    best_device = str(device)
    if "mps" in best_device:
        t.tolist()  # silent
    if "mps" not in best_device:
        t.tolist()  # expect: SYN102
    if "neuron" in kind:
        t.tolist()  # expect: SYN102
    if kind in "mps":
        t.tolist()  # silent
    if "cuda" in kind:
        t.tolist()  # expect: SYN102
    if device.type == "xpu":
        t.tolist()  # silent
    if device.type != "xpu":
        t.tolist()  # expect: SYN102
    if device.type in {"xla", "tpu:0"}:
        t.tolist()  # silent
    if device.type in ("cuda", "xla"):
        t.tolist()  # expect: SYN102
    if device.type not in ["xla"]:
        t.tolist()  # expect: SYN102
    else:
        t.tolist()  # silent
    if kind.startswith("npu"):
        t.tolist()  # silent
    if kind == "kernel_ascend":
        t.tolist()  # silent
    if not current_platform.is_cuda_alike():
        t.tolist()  # silent
    if current_platform.is_cuda_alike():
        t.tolist()  # expect: SYN102
    if on_gaudi():
        t.tolist()  # expect: SYN102
    if not (torch.cuda.is_available() and kind):
        t.tolist()  # expect: SYN102
    if kind < "npu":
        t.tolist()  # expect: SYN102
    return t.tolist() if torch.cuda.is_available() else t.cpu()  # expect: SYN102

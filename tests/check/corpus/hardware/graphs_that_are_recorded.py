"""Code that runs only while TorchScript or an export records a graph does not block the program."""

import torch


def size_of(index: torch.Tensor):
    if torch.jit.is_tracing():
        return index.max() + 1
    return int(index.max()) + 1  # expect: SYN103


def scale(x: torch.Tensor):
    if torch.jit.is_scripting() or torch.onnx.is_in_onnx_export():
        return x / x.max().item()  # silent
    if not torch.jit.is_scripting() and x.isnan().any():  # expect: SYN104
        raise ValueError(x.shape)
    return x


def run():
    index = torch.ones(4, device="cuda")
    if size_of(index) > 3:  # silent
        return scale(index)
    return index

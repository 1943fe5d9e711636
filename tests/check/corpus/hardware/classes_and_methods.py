"""A method or a class that is the one for other hardware among its like is not reported."""

import torch
from torch import nn


class Sampler(nn.Module):
    def forward_cuda(self, x: torch.Tensor):
        return x.max().item()  # expect: SYN101 (inferred)

    def forward_cpu(self, x: torch.Tensor):
        return x.max().item()  # silent

    def forward_xpu(self, x: torch.Tensor):
        return x.max().item()  # silent


class WrapperCPU:
    def read(self):
        return torch.ones(1, device="cuda").item()  # silent


class CPUCache:
    def read(self):
        return torch.ones(1, device="cuda").item()  # expect: SYN101


class GPURunner:
    def read(self, x: torch.Tensor):
        return x.cuda().tolist()  # expect: SYN102


class CPURunner(GPURunner):
    def read(self, x: torch.Tensor):
        return x.cuda().tolist()  # silent


class CPUReader(GPURunner):
    def read(self, x: torch.Tensor):
        return x.cuda().tolist()  # expect: SYN102


class ZenCPUPrefillBackend:
    def read(self, x: torch.Tensor):
        return x.cuda().tolist()  # silent


class CpuAttentionImpl:
    def read(self, x: torch.Tensor):
        return x.cuda().tolist()  # silent


class CPUOffloadBackend:
    def read(self, x: torch.Tensor):
        return x.cuda().tolist()  # expect: SYN102


class SwapToCPUKernel:
    def read(self, x: torch.Tensor):
        return x.cuda().tolist()  # expect: SYN102


class CpuidBackend:
    def read(self, x: torch.Tensor):
        return x.cuda().tolist()  # expect: SYN102


class CPUReadBackendOfPages:
    def read(self, x: torch.Tensor):
        return x.cuda().tolist()  # expect: SYN102

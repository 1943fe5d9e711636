"""What is computed lives on the GPU if any operand does; a tensor without dimensions of the host may join it."""

import torch


def run(scale: float):
    gpu, host = torch.ones(4, device="cuda"), torch.ones(4)
    (gpu + 1).tolist()  # expect: SYN102
    (1 - gpu).tolist()  # expect: SYN102
    (gpu * scale).tolist()  # expect: SYN102
    (host.sum() * gpu).tolist()  # expect: SYN102
    (host + host).tolist()  # silent
    (gpu @ gpu).item()  # expect: SYN101
    (-gpu).tolist()  # expect: SYN102
    (~(gpu > 0)).tolist()  # expect: SYN102
    torch.stack([gpu, gpu]).tolist()  # expect: SYN102
    torch.cat((host, host)).tolist()  # silent
    torch.where(gpu > 0, gpu, 0.0).tolist()  # expect: SYN102
    torch.add(gpu, 1, alpha=gpu.sum())  # expect: SYN106
    gpu.T.tolist(), gpu.shape[0], gpu.size(0), gpu.dim(), gpu.numel()  # expect: SYN102
    return gpu.unknown_method_of_a_plugin().tolist()  # silent

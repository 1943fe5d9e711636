"""A factory makes its tensor where its device says, without a copy; the host is the default."""

import torch


def run(n: int, like: torch.Tensor):
    torch.zeros(n).tolist()  # silent
    torch.empty(n, device="cpu").tolist()  # silent
    torch.full((n,), 2.0, device="cuda").tolist()  # expect: SYN102 (proved)
    torch.arange(n, device="cuda:1").tolist()  # expect: SYN102 (proved)
    torch.randint(0, 9, (n,), device="cuda").tolist()  # expect: SYN102
    torch.eye(n, device=torch.device("cuda")).tolist()  # expect: SYN102 (proved)
    torch.linspace(0, 1, n, device=torch.device("cuda", 1)).tolist()  # expect: SYN102
    torch.zeros(n, device="meta").tolist()  # silent: not what is reported on
    gpu = torch.zeros(n, device="cuda")
    torch.zeros_like(gpu).tolist()  # expect: SYN102
    torch.empty_like(gpu, device="cpu").tolist()  # silent
    gpu.new_zeros(n).tolist()  # expect: SYN102
    gpu.new_zeros(n, device="cpu").tolist()  # silent
    torch.rand(4, device=gpu.device).tolist()  # expect: SYN102
    out = torch.empty(n, device="cuda")
    return torch.add(torch.ones(n), 1, out=out).tolist()  # expect: SYN102

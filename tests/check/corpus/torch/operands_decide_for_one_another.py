"""Operands share a device: what is surest of one of them holds for the result."""

import torch


def operands(a, flag, t: torch.Tensor):
    host, gpu = torch.ones(3), torch.ones(3, device="cuda")
    either = host if flag else gpu
    (either + a).tolist()  # expect: SYN102 (inferred)
    (a + either).tolist()  # expect: SYN102 (inferred)
    (either + host).tolist()  # expect: SYN102 (inferred)
    (gpu + a).tolist()  # expect: SYN102 (proved)
    (a + gpu).tolist()  # expect: SYN102 (proved)
    (a + host).tolist()  # silent
    (host + a).tolist()  # silent
    (t + gpu).tolist()  # expect: SYN102 (proved)
    (t + a).tolist()  # expect: SYN102 (assumed)
    (host + 1).tolist()  # silent
    (1 + gpu).tolist()  # expect: SYN102 (proved)
    torch.cat([host, a]).tolist()  # silent
    torch.cat([gpu, a]).tolist()  # expect: SYN102 (proved)
    torch.cat([a, gpu]).tolist()  # expect: SYN102 (proved)
    torch.stack((t, gpu)).tolist()  # expect: SYN102 (proved)
    torch.where(gpu > 0, gpu, 0.0).tolist()  # expect: SYN102 (proved)
    torch.where(host > 0, host, 0.0).tolist()  # silent
    torch.maximum(t, gpu).tolist()  # expect: SYN102 (proved)
    meta = torch.ones(3, device="meta")
    (meta + a).tolist()  # silent


def placed_by_a_branch_or_an_argument(n, device):
    if n > 2:
        return torch.ones(3, device="cuda")
    return torch.ones(3, device=device)


def placed_by_an_argument(n, device):
    return torch.ones(n, device=device)


def calls(n):
    placed_by_a_branch_or_an_argument(n, "cpu").tolist()  # expect: SYN102 (inferred)
    placed_by_a_branch_or_an_argument(n, "cuda").tolist()  # expect: SYN102 (inferred)
    placed_by_an_argument(n, "cpu").tolist()  # silent
    placed_by_an_argument(n, "cuda").tolist()  # expect: SYN102 (inferred)


def moved():
    x = torch.ones(8, device="cuda")
    at, two = torch.tensor(3), torch.tensor([1, 2])
    x[at.to("cuda")].sum()  # expect: SYN106 (proved), SYN302 (proved)
    x[two.to("cuda")].sum()  # expect: SYN302 (proved)
    x[two.to("cuda")[0]].sum()  # expect: SYN106 (proved), SYN302 (proved)
    x[at.to("cuda").cpu()].sum()  # expect: SYN105 (proved), SYN302 (proved)


def tell(t):
    return f"{t.item()} is off"  # false: SYN101


def check(n):
    assert n > 0, tell(torch.ones(1, device="cuda"))

"""Factorisations read a status to raise an error; those that return it do not."""

import torch


def run(a: torch.Tensor):
    gpu = torch.eye(4, device="cuda")
    torch.linalg.inv(gpu)  # expect: SYN502
    torch.linalg.cholesky(gpu)  # expect: SYN502
    lower, status = torch.linalg.cholesky_ex(gpu)  # silent
    torch.linalg.solve(gpu, gpu)  # expect: SYN502
    torch.linalg.eigh(gpu)  # expect: SYN502
    torch.linalg.det(gpu)  # silent
    torch.inverse(gpu)  # expect: SYN502
    torch.linalg.inv(torch.eye(4))  # silent
    return lower.tolist()  # expect: SYN102

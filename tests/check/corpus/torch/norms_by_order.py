"""A norm blocks where it computes singular values: by its order, over a matrix."""

import torch


def norms(n):
    x = torch.zeros(4, 8, 8, device="cuda")
    rows = torch.linalg.norm(x, ord=2, dim=-1)
    sums = torch.linalg.norm(x, ord=1, dim=(-2, -1))
    whole = torch.linalg.norm(x)
    spectral = torch.linalg.norm(x, ord=2, dim=(-2, -1))  # expect: SYN502
    nuclear = torch.linalg.norm(torch.ones(8, 8, device="cuda"), "nuc")  # expect: SYN502
    vector = torch.linalg.norm(torch.ones(8, device="cuda"), ord=2)
    some = torch.linalg.norm(x, ord=n, dim=(-2, -1))
    matrix = torch.linalg.matrix_norm(x, "nuc")  # expect: SYN502
    frobenius = torch.linalg.matrix_norm(x)
    old = torch.norm(x, p="nuc", dim=(1, 2))  # expect: SYN502
    return rows, sums, whole, spectral, nuclear, vector, some, matrix, frobenius, old, torch.norm(x, 2, -1)

"""Sparse tensors: what makes one, what coalesces it, and which products block for it."""

import torch


def made():
    indices = torch.zeros(2, 4, dtype=torch.long, device="cuda")
    return torch.sparse_coo_tensor(indices, torch.ones(4, device="cuda"), size=(3, 3))


def products(n):
    matrix, dense = made(), torch.ones(3, n, device="cuda")
    torch.sparse.mm(matrix, dense)  # expect: SYN206
    torch.mm(matrix, dense)  # expect: SYN206
    rows = matrix.coalesce()  # expect: SYN206
    torch.sparse.mm(rows, dense)  # silent
    torch.sparse.mm(rows, rows)  # expect: SYN206
    torch.sparse.mm(rows.t(), dense)  # expect: SYN206
    torch.mm(dense.t(), dense)  # silent
    torch.bmm(dense[None], dense[None])  # silent
    return rows.coalesce().values()  # silent: it is coalesced


def kept(n):
    matrix = torch.ones(3, n, device="cuda").to_sparse().to(torch.float64)  # expect: SYN206
    return matrix.coalesce()  # silent


def unknown(matrix):
    return matrix.cuda().coalesce()  # expect: SYN206

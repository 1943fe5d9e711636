"""Other operations of the table: sparse conversion, histograms, windows, search."""

import torch


def run(any_of):
    gpu = torch.ones((4, 4), device="cuda")
    many = torch.ones((400, 4), device="cuda")
    torch.isin(gpu[0], gpu[0, :1])  # silent: of so few nothing is sorted
    gpu.to_sparse()  # expect: SYN206
    torch.histc(gpu)  # expect: SYN206
    torch.isin(gpu, many)  # expect: SYN206
    torch.isin(gpu, gpu.repeat(any_of, 1))  # silent: nothing says that they are many
    torch.combinations(gpu[0])  # expect: SYN206
    torch.is_nonzero(gpu.sum())  # expect: SYN103
    torch.searchsorted(gpu[0], gpu[0])  # silent
    torch.nn.utils.rnn.pad_sequence([gpu, gpu])  # silent
    return torch.histc(torch.ones(4))  # silent

"""A nested tensor that is made of data on the host is copied to the GPU; one that is made of offsets on the GPU is there."""

import torch


def made_of_data(first: torch.Tensor, second: torch.Tensor):
    rows = [torch.ones(3), torch.ones(4)]
    torch.nested.as_nested_tensor(rows, device="cuda")  # expect: SYN302
    torch.nested.nested_tensor([[1.0], [2.0, 3.0]], device="cuda")  # expect: SYN302
    rows = [first.cuda(), second.cuda()]
    torch.nested.as_nested_tensor(rows, layout=torch.strided)  # silent
    return torch.nested.nested_tensor(rows, device="cuda")  # silent


def made_of_offsets(values: torch.Tensor, offsets: torch.Tensor):
    nested = torch.nested.nested_tensor_from_jagged(values.cuda(), offsets.cuda())  # silent
    return nested.to_padded_tensor(0.0)  # silent


def on_the_host():
    return torch.nested.as_nested_tensor([torch.ones(3), torch.ones(4)], layout=torch.jagged)  # silent

"""`torch.Tensor` and its like read a list of GPU scalars one by one; Python asks the bounds of a slice for numbers."""

import torch


def joined():
    x = torch.ones(3, 3, device="cuda")
    return torch.Tensor([x.sum(), x.mean()])  # expect: SYN106


def grown():
    x = torch.ones(3, 3, device="cuda")
    rows = []
    for i in range(3):
        rows.append(x[i].sum())
    return torch.LongTensor(rows)  # expect: SYN106


def sized():
    x = torch.ones(3, 3)
    return torch.Tensor(3, 4), torch.FloatTensor([x.sum(), 1.0]), torch.Tensor([1, 2])  # silent


def sliced():
    n = torch.ones(3, 3, device="cuda").argmax()
    return [1, 2, 3][:n]  # expect: SYN106


def sliced_text():
    n = torch.ones(3, 3, device="cuda").argmax()
    return "abc"[1:n:2]  # expect: SYN106


def sliced_by_a_number():
    n = torch.ones(3, 3, device="cuda").shape[0]
    return (1, 2, 3)[:n]  # silent

import torch
from a import total, widest


def test_total():
    assert total(torch.ones(4, device="cuda")) == widest(torch.ones(4, device="cuda"))  # silent

import torch

table = torch.ones(4, device="cuda")


def later():
    from pkg import table as again

    return again.tolist()  # expect: SYN102

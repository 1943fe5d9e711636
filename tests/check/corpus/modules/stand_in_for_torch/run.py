import torch

torch.ones(4, device="cuda").tolist()  # expect: SYN102

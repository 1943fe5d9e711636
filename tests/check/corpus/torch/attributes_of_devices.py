"""The device of a tensor, and the type of that device, place what they are given to."""

import torch

x = torch.ones(4, device="cuda")
torch.zeros(4, device=x.device).tolist()  # expect: SYN102
torch.zeros(4, device=x.device.type).tolist()  # expect: SYN102
torch.zeros(4, device=torch.device("cuda", 1).type).tolist()  # expect: SYN102
torch.zeros(4, device=torch.device("cpu").type).tolist()  # silent
torch.zeros(4).to(x.device.type)  # expect: SYN302

h = torch.ones(4)
torch.zeros(4, device=h.device).tolist()  # silent
torch.zeros(4, device=h.device.type).tolist()  # silent

"""A list without elements has nothing to copy."""

import torch

nothing = torch.tensor([], dtype=torch.int8, device="cuda")  # silent
one = torch.tensor([0], dtype=torch.int8, device="cuda")  # expect: SYN301

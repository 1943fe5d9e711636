"""torch takes a list with tensors, lists, slices or None as index for a tuple (2.13)."""

import torch

scores = torch.zeros(4, 5, device="cuda")
rows = torch.arange(4, device="cuda")
columns = torch.arange(4, device="cuda")
on_host = torch.arange(4)

both = scores[[rows, columns]]  # silent: both are there
pair = [rows, columns]
again = scores[pair]  # silent
mixed = scores[[rows, on_host]]  # expect: SYN305
nested = scores[[[0, 1], [1, 2]]]  # expect: SYN305
plain = scores[[0, 1]]  # expect: SYN305
place = [None] * 2
place[1] = slice(3)
view = scores[place]  # silent

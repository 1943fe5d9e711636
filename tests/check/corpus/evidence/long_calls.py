"""The text of a call is cut where it is long, and ends where its first line does."""

import torch


def run(number_of_sequences_in_the_batch: int):
    rows = torch.zeros(number_of_sequences_in_the_batch, 4, dtype=torch.float32, device="cuda")  # at: cut
    rows.tolist()  # expect: SYN102
    # because: cut: `torch.zeros(number_of_sequences_in_the_batch, 4, dtype=torch.float32,...` places the tensor on the GPU
    fits = torch.zeros(number_of_sequences_in_the_batch, 8, 8, 8, device="cuda")  # at: fits
    fits.tolist()  # expect: SYN102
    # because: fits: `torch.zeros(number_of_sequences_in_the_batch, 8, 8, 8, device="cuda")` places the tensor on the GPU
    größe = torch.zeros(4, device="cuda")  # at: unicode
    größe.tolist()  # expect: SYN102 `größe.tolist()`
    # because: unicode: `torch.zeros(4, device="cuda")` places the tensor on the GPU
    "für"
    later = torch.ones(4, device="cuda").to("cuda")  # noqa: E702 # at: bytes
    return later.tolist()  # expect: SYN102
    # because: bytes: `torch.ones(4, device="cuda")` places the tensor on the GPU

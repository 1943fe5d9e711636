"""A device that only the run decides counts as the GPU: for that such code is written."""

import torch
from settings import config


class Runner:
    def __init__(self, device: torch.device, rank: int):
        self.device = device
        self.lens = torch.zeros(4, device=self.device)
        self.rows = torch.zeros(4, device=config.device)
        self.ranked = torch.zeros(4, device=f"cuda:{rank}")

    def step(self, ids: list[int]):
        self.lens.tolist()  # expect: SYN102 (inferred)
        self.rows.tolist()  # todo: SYN102
        self.ranked.tolist()  # expect: SYN102 (inferred)
        return torch.tensor(ids, device=self.device)  # expect: SYN301 (inferred)


def choose(use_cuda: bool, name: str):
    device = torch.device("cuda" if use_cuda else "cpu")
    torch.zeros(4, device=device).tolist()  # expect: SYN102 (inferred)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.zeros(4, device=device).tolist()  # expect: SYN102 (proved)
    torch.zeros(4, device=torch.device(name)).tolist()  # expect: SYN102 (inferred)
    torch.zeros(4, device=torch.cuda.current_device()).tolist()  # expect: SYN102
    torch.ones(4).to(name)  # expect: SYN302 (inferred)
    return torch.zeros(4, device=None).tolist()  # silent

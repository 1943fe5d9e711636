"""What is put into a container on an object is found by its other methods."""

import torch


class Buffers:
    def __init__(self):
        self.rows = []
        self.by_name = {}
        self.host = []

    def add(self, n: int, name: str):
        self.rows.append(torch.ones(n, device="cuda"))
        self.by_name[name] = torch.ones(n, device="cuda")
        self.host.append(torch.ones(n))

    def read(self, name: str):
        self.rows[0].tolist()  # expect: SYN102
        self.by_name[name].tolist()  # expect: SYN102
        self.host[0].tolist()  # silent
        for row in self.rows:
            row.sum().item()  # expect: SYN101
        return [row.tolist() for row in self.by_name.values()]  # expect: SYN102

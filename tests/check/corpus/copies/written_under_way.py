"""A pinned buffer is written again before the GPU has read it; silent where another part is, or something may have waited."""

import torch


class Sender:
    def __init__(self, n: int):
        self.host = torch.zeros(n, pin_memory=True)
        self.gpu = torch.zeros(n, device="cuda")

    def twice(self, n: int):
        self.gpu.copy_(self.host, non_blocking=True)  # expect: SYN602
        self.host[3] = 1
        self.gpu[:n].copy_(self.host[:n], non_blocking=True)  # expect: SYN602
        self.host[: n + 1] += 1

    def parts(self, n: int):
        self.gpu[:n].copy_(self.host[:n], non_blocking=True)  # silent
        self.host[n:] = 0

    def in_turn(self, rows: list[int], wait):
        for row in rows:
            wait()
            self.host.fill_(row)  # silent
            self.gpu.copy_(self.host, non_blocking=True)  # silent

    def new_ones(self, rows: list[int]):
        for row in rows:
            host = torch.tensor([row]).pin_memory()
            self.gpu.copy_(host, non_blocking=True)  # silent


def rounds(rows: list[list[int]]):
    host = torch.zeros(8, pin_memory=True)
    gpu = torch.zeros(8, device="cuda")
    for row in rows:
        host.fill_(row[0])
        gpu.copy_(host, non_blocking=True)  # expect: SYN602


def of_pageable():
    host = torch.zeros(8)
    gpu = host.to("cuda", non_blocking=True)  # silent
    host[0] = 1
    return gpu

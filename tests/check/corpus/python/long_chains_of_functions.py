"""A value is followed through many functions, whatever their order."""

import torch


class Chain:
    def s9(self):
        self.a9 = self.a8
        return self.a9.item()  # expect: SYN101

    def s8(self):
        self.a8 = self.a7

    def s7(self):
        self.a7 = self.a6

    def s6(self):
        self.a6 = self.a5

    def s5(self):
        self.a5 = self.a4

    def s4(self):
        self.a4 = self.a3

    def s3(self):
        self.a3 = self.a2

    def s2(self):
        self.a2 = self.a1

    def s1(self):
        self.a1 = self.a0

    def s0(self):
        self.a0 = torch.ones(1, device="cuda")

    def read(self):
        for t in (self.a0, self.a1, self.a2, self.a3, self.a4, self.a5, self.a6, self.a7, self.a8):
            deep(t)
        return self.a9.item()  # expect: SYN101


def deep(t):
    return deeper(t)


def deeper(t):
    return t.item()  # expect: SYN101

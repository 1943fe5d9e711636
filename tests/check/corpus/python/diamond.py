"""Of two bases the nearer one's method runs."""

import torch


class Top:
    def make(self):
        return torch.ones(1)


class Left(Top):
    def make(self):
        return torch.ones(1, device="cuda")


class Right(Top):
    pass


class Bottom(Left, Right):
    def read(self):
        return self.make().item()  # expect: SYN101


class Other(Right):
    def read(self):
        return self.make().item()  # silent


class Deep(Bottom):
    def up(self):
        return super().make().item()  # expect: SYN101

"""Methods in which nothing happens but the wait."""

import torch


class Batch:
    def __init__(self):
        self.rows = torch.ones((4, 4), device="cuda")
        self.mask = self.rows > 0
        self.flag = self.rows.sum() > 0
        self.host = torch.ones(4)
        self.index = [1, 2]

    def select(self):
        return self.rows[self.mask]  # expect: SYN201

    def pick(self):
        return self.rows[self.index]  # expect: SYN305

    def store(self, value):
        self.rows[:, 0] = self.host  # expect: SYN307

    def download(self):
        self.host[:] = self.rows[0]  # expect: SYN105

    def tested(self):
        return 1 if self.flag else 2  # expect: SYN104

    def negated(self):
        return not self.flag  # expect: SYN104

    def text(self):
        return f"{self.flag}"  # expect: SYN107

    def old_text(self):
        return "%s" % self.flag  # expect: SYN107

    def checked(self):
        assert self.flag  # expect: SYN104

    def upload(self):
        return self.host.cuda()  # expect: SYN302

    def wait(self):
        torch.cuda.synchronize()  # expect: SYN401

    def head(self):
        return self.rows[: self.flag]  # expect: SYN106

    def among(self):
        return 3 in self.rows  # expect: SYN104

    def kept(self):
        return [row for row in self.index if self.flag]  # expect: SYN104

    def saved(self):
        self.rows[0] += self.rows[self.mask].sum()  # expect: SYN201

    def best(self):
        return self.host[self.flag]  # expect: SYN106

    def nothing(self):
        return self.rows[0], self.host[0], self.flag

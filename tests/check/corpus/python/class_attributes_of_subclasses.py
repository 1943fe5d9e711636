"""A base reads what only its subclasses set."""

import torch


class Backend:
    def read(self):
        self.early.tolist()  # expect: SYN102
        return self.rows.tolist()  # expect: SYN102

    def other(self):
        return self.host.tolist()  # silent


class Flash(Backend):
    def __init__(self):
        self.rows = torch.ones(4, device="cuda")
        self.host = torch.ones(4)
        self.early, self.late = torch.ones(1, device="cuda"), torch.ones(1)

    def late_one(self):
        return self.late.item()  # silent


class Renamed:
    def __init__(this, n: int):  # noqa: N805
        this.rows = torch.ones(n, device="cuda")
        for this.row in [torch.ones(1, device="cuda")]:
            pass
        with open("x") as this.file:
            pass

    def read(me):  # noqa: N805
        me.row.item()  # expect: SYN101
        return me.rows.tolist()  # expect: SYN102


Backend().read()

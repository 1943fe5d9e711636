"""A list on an object, filled and read in the same function."""

import torch


class Holder:
    def __init__(self):
        self.rows = []
        self.rows.append(torch.ones(1, device="cuda"))
        self.rows[0].item()  # expect: SYN101
        self.table = {}
        self.table["a"] = torch.ones(1, device="cuda")
        self.table["a"].item()  # expect: SYN101
        self.table["b"].item()  # silent


class Plain:
    rows = None


def run():
    plain = Plain()
    plain.rows = []
    plain.rows.append(torch.ones(1, device="cuda"))
    plain.rows[0].item()  # expect: SYN101
    plain.rows = [torch.ones(1)]
    plain.rows[0].item()  # silent
    nested = {"rows": []}
    nested["rows"].append(torch.ones(1, device="cuda"))
    return nested["rows"][0].item()  # expect: SYN101


def other(plain: Plain):
    return plain.rows[0].item()  # expect: SYN101

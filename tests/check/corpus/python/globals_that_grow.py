"""Lists and dictionaries of a module hold what any function puts into them."""

import torch

ROWS = []
BY_NAME = {}
HOST = []
MADE = []
ITEMS = {}
EXTENDED = []
EXTENDED.extend([torch.ones(2, device="cuda")])


def fill(name: str):
    ROWS.append(torch.ones(1, device="cuda"))
    BY_NAME[name] = torch.ones(1, device="cuda")
    HOST.append(torch.ones(1))


def begin():
    global MADE, ITEMS
    MADE = []
    MADE.append(torch.ones(1, device="cuda"))
    ITEMS = {}
    ITEMS["a"] = torch.ones(1, device="cuda")


def read(name: str):
    HOST[0].item()  # silent
    BY_NAME[name].item()  # expect: SYN101
    ROWS[0].item()  # expect: SYN101
    MADE[0].item()  # expect: SYN101
    ITEMS[name].item()  # expect: SYN101
    return EXTENDED[0].tolist()  # expect: SYN102

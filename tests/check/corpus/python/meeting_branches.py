"""Where branches meet, what each of them set is known; what was there before counts only where one left it."""

import torch


def all_set(flag):
    found = torch.ones(4, device="cuda")
    if flag:
        found = torch.ones(4)
    else:
        found = torch.zeros(4)
    return found.tolist()  # silent


def one_leaves_it(flag):
    found = torch.ones(4, device="cuda")
    if flag:
        found = torch.ones(4)
    return found.tolist()  # expect: SYN102


def first_of_three_leaves_it(which):
    found = torch.ones(4, device="cuda")
    if which == 1:
        other = 1
    elif which == 2:
        found = torch.ones(4)
    else:
        found = torch.zeros(4)
    found.tolist()  # expect: SYN102
    return other


def three_set(which):
    found = torch.ones(4, device="cuda")
    if which == 1:
        found = torch.empty(4)
    elif which == 2:
        found = torch.ones(4)
    else:
        found = torch.zeros(4)
    return found.tolist()  # silent

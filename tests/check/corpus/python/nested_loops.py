"""``continue`` and ``break`` leave the loop that they stand in, not one around it."""

import torch


def continues(rounds, flag):
    for _ in range(rounds):
        found = torch.ones(4)
        for _ in range(rounds):
            found = torch.ones(4, device="cuda")
            if flag:
                continue
            found = torch.ones(4)
        found.tolist()  # expect: SYN102


def continues_outside(rounds, flag):
    for _ in range(rounds):
        found = torch.ones(4)
        for _ in range(rounds):
            found = torch.ones(4)
        if flag:
            found = torch.ones(4, device="cuda")
            continue
        found.tolist()  # silent


def breaks(rounds, flag):
    for _ in range(rounds):
        found = torch.ones(4)
        while True:
            found = torch.ones(4, device="cuda")
            if flag:
                break
            found = torch.ones(4)
        found.tolist()  # expect: SYN102


def goes_on(rounds, flag):
    found = torch.ones(4)
    for _ in range(rounds):
        found.tolist()  # silent
        for _ in range(rounds):
            kept = torch.ones(4, device="cuda")
            if flag:
                continue
            kept = torch.ones(4)
        found = torch.ones(4)
    return found.tolist()  # silent

"""Which item an index takes, and what a part of a sequence holds."""

import torch


def items(n):
    rows = [torch.ones(3, device="cuda"), torch.ones(3)]
    rows[0].tolist()  # expect: SYN102 (proved)
    rows[1].tolist()  # silent
    rows[-1].tolist()  # silent
    rows[-2].tolist()  # expect: SYN102 (proved)
    rows[n].tolist()  # expect: SYN102 (inferred)
    rows[1:][0].tolist()  # expect: SYN102 (inferred)
    pair = tuple(rows)
    pair[0].tolist()  # expect: SYN102 (proved)
    pair[True].tolist()  # silent
    a, b = rows[:2]
    b.tolist()  # expect: SYN102 (inferred)


def of_no_known_length(n):
    rows = [torch.ones(3, device="cuda") for _ in range(n)]
    rows[1:][0].tolist()  # expect: SYN102 (proved)
    rows[0:][1:][0].tolist()  # expect: SYN102 (proved)
    rows[-1].tolist()  # expect: SYN102 (proved)
    rows[:] = [torch.ones(3) for _ in range(n)]
    several = [[torch.ones(3, device="cuda")] for _ in range(n)]
    several[0][0].tolist()  # expect: SYN102 (proved)
    several[1:][0][0].tolist()  # expect: SYN102 (proved)


def results_of_several(n):
    values, indices = torch.ones(3, 4, device="cuda").max(dim=0)
    torch.ones(4, device="cuda")[indices].tolist()  # expect: SYN102 (proved)
    torch.ones(4, device="cuda")[values > 0].tolist()  # expect: SYN102 (proved), SYN201 (proved)
    low, high = torch.aminmax(torch.ones(3, device="cuda"))
    low.item()  # expect: SYN101 (proved)
    high.item()  # expect: SYN101 (proved)
    parts = torch.ones(4, device="cuda").chunk(2)
    parts[0].tolist()  # expect: SYN102 (proved)
    for part in torch.split(torch.ones(4, device="cuda"), 2):
        part.tolist()  # expect: SYN102 (proved)
    largest = torch.ones(4, device="cuda").topk(n)
    largest[1].tolist()  # expect: SYN102 (proved)


def wrapped(flag):
    rows = (torch.ones(3, device="cuda"), None) if flag else (torch.ones(3), 4)
    rows[0].tolist()  # expect: SYN102 (inferred)
    either = [torch.ones(3, device="cuda")] if flag else {"a": torch.ones(3)}
    either[0].tolist()  # expect: SYN102 (proved)
    text = "abc"[1:]
    torch.ones(3, device=text).tolist()  # silent

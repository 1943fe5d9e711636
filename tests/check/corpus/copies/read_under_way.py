"""A copy that the host does not wait for is read at once, and garbage at that; silent wherever something may have waited."""

import numpy as np
import torch


def at_once(lens: list[int]):
    done = torch.zeros(8, dtype=torch.bool, device="cuda")
    if done.any().to("cpu", non_blocking=True) or len(lens):  # expect: SYN601
        return 1
    count = int(done.sum().to("cpu", non_blocking=True))  # expect: SYN601
    buffer = torch.zeros(8)
    buffer[2:] = done.to(device="cpu", non_blocking=True)  # expect: SYN601
    array = np.zeros(8)
    array[:] = done.to("cpu", non_blocking=True).numpy()  # expect: SYN601
    return count, done.to("cpu", non_blocking=True).tolist()  # expect: SYN601


def soon():
    lens = torch.zeros(8, device="cuda")
    host = lens.to("cpu", non_blocking=True)  # expect: SYN601
    rows = []
    rows.append(lens * 2)
    view = host[0]  # silent
    first = int(view + host[1])
    return first, rows


def in_the_next_round(lens: list[int]):
    gpu = torch.zeros(8, device="cuda")
    host = torch.zeros(8, pin_memory=True)
    for _ in lens:
        print(host.max())
        host.copy_(gpu, non_blocking=True)  # expect: SYN601


def maybe_later(wait, stream):
    lens = torch.zeros(8, device="cuda")
    host = lens.to("cpu", non_blocking=True)  # silent
    wait()
    print(host.max())
    other = lens.to("cpu", non_blocking=True)  # silent
    lens.sum().item()  # expect: SYN101
    print(other.max())
    third = lens.to("cpu", non_blocking=True)  # silent
    with torch.cuda.stream(stream):
        print(third.max())
    view = lens.to("cpu", non_blocking=True).numpy()  # silent
    if view is not None and len(view) == 8:
        fourth = lens.to("cpu", non_blocking=True)  # silent
        fourth = torch.zeros(8)
        print(fourth.max())
    return view, lens.to("cpu", non_blocking=True)  # silent


def sizes():
    lens = torch.zeros(8, device="cuda").to("cpu", non_blocking=True)  # silent
    if lens.dim() == 4 and lens.shape[0] > 1 and lens.numel() > 2:
        lens = lens.squeeze(0)
    return lens


def of_the_host():
    lens = torch.zeros(8)
    host = lens.to("cpu", non_blocking=True)  # silent
    return host.max()


def annotated_in_between(gpu_rows: torch.Tensor, count: int):
    rows = torch.ones(count, device="cuda").to("cpu", non_blocking=True)  # silent
    filled: list[torch.Tensor | None] = [None] * count
    for i, row in enumerate(rows):
        filled[i] = row
    return filled


def tried(stream):
    lens = torch.zeros(8, device="cuda")
    host = lens.to("cpu", non_blocking=True)  # silent
    try:
        stream.synchronize()
    finally:
        longest = 8
    return host.max(), longest


def chosen(stream, kind: int):
    lens = torch.zeros(8, device="cuda")
    host = lens.to("cpu", non_blocking=True)  # silent
    match kind:
        case 1:
            stream.synchronize()
    return host.max()

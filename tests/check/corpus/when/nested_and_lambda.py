"""Functions inside of a step, and lambdas in it, run with it."""

import torch


@torch.inference_mode()
def step(rows):
    def inner():
        return torch.ones(1, device="cuda").item()  # expect: SYN101 (step)
        # reached: step > step.inner

    read = lambda t: t.item()  # noqa: E731 # expect: SYN101 (step)
    read(torch.ones(1, device="cuda"))
    inner()
    return sorted(rows, key=lambda row: row)


def cold():
    read = lambda t: t.item()  # noqa: E731 # expect: SYN101 (unknown)
    return read(torch.ones(1, device="cuda"))

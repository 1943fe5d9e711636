"""A value that has no expression of its own is shown where the function first uses the value."""

from backend import lease


def features(crops):
    found = lease(crops)
    return [
        each.cpu().numpy()  # expect: SYN105 `each.cpu()`  # at: use
        # because: use: the value is copied to the CPU, so the source is on the GPU
        for each in found
    ]

"""`is_cuda` ends like a tensor of the GPU, and is none."""

from backend import lease


def run():
    t = lease()
    if t.is_cuda:  # silent
        return 1
    return t.is_gpu or None  # silent

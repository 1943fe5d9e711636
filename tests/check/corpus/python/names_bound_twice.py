"""A name that is imported, or defined anew where that fails, is both."""

import torch

try:
    from fast_ops import make
except ImportError:
    make = lambda n: torch.zeros(n, device="cuda")  # noqa: E731

try:
    import fast_read
except ImportError:
    fast_read = None

if torch.cuda.is_available():
    buffer = torch.zeros(3, device="cuda")
else:
    buffer = None

make(3).tolist()  # expect: SYN102


def read():
    if fast_read is not None:
        return fast_read.run(buffer)
    make(4).tolist()  # expect: SYN102
    return buffer.tolist()  # expect: SYN102

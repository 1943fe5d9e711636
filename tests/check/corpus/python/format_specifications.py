"""What stands in the format of an f-string is evaluated as well."""

import torch


def run(width: int):
    t = torch.ones((), device="cuda")
    a = f"{width:>{t.item()}}"  # expect: SYN101
    b = f"{width!r:>{width}}"  # silent
    c = f"{t!r}"  # expect: SYN107
    d = f"cuda:{t.item()}"  # expect: SYN101
    e = f""  # noqa: F541
    torch.zeros(4, device=d).tolist()  # expect: SYN102
    torch.zeros(4, device=f"cuda").tolist()  # noqa: F541 # expect: SYN102
    torch.zeros(4, device=f"cpu:{width}").tolist()  # false: SYN102 (inferred)
    return a, b, c, e

"""Names that `*` imports, through modules that have them by `*` themselves."""

from a_package_that_nobody_has import *  # noqa: F403
from basics import *  # noqa: F403


def own():
    return torch.arange(8)  # noqa: F405


class Mine(Pool):  # noqa: F405
    def read(self):
        return self.free.tolist()  # expect: SYN102


def run():
    rows.tolist()  # noqa: F405 # expect: SYN102
    shared.tolist()  # noqa: F405 # expect: SYN102
    torch.zeros(3, device="cuda").item()  # noqa: F405 # expect: SYN101
    own().tolist()  # silent
    sum(rows)  # noqa: F405
    _hidden.tolist()  # noqa: F405 # silent
    F.softmax(logits).max().item()  # noqa: F405 # silent
    Mine().read()

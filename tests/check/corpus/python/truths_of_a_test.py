"""`bool()` of `and` and `or` asks for the truth of the last operand too."""

import torch


class Runner:
    def __init__(self):
        self.mask = torch.zeros(8, dtype=torch.bool, device="cuda")

    def run(self, count):
        some = bool(self.mask is not None and self.mask.any())  # expect: SYN104
        more = bool(count > 3 or self.mask.any() or self.mask.all())  # expect: SYN104, SYN103
        all_of = bool(self.mask.any() and self.mask.all())  # expect: SYN104, SYN103
        return some, more, all_of, bool(count and count > 3)  # silent


def of_a_function(bool, mask):
    return bool(mask is not None and mask.any())  # silent

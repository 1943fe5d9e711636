"""What is called from where things run once runs once, though a helper that nothing calls calls it too."""

import torch


def process_weights_after_loading(layer, convert):
    def inside():
        torch.cuda.synchronize()  # expect: SYN401 (once)

    convert(inside)
    return permuted(torch.ones(4, device="cuda"))


def permuted(t):
    return t.tolist()  # expect: SYN102 (once)


def random_weights_for_tests():
    return permuted(torch.ones(4, device="cuda"))


def of_two(t):
    return t.tolist()  # expect: SYN102 (unknown)


def load_model():
    return of_two(torch.ones(4, device="cuda"))


def middle():
    return of_two(torch.ones(4, device="cuda"))


def outer():
    return middle()


class RingCommunicator:
    def __init__(self):
        self._build_mapping()

    def _build_mapping(self):
        self.ranks = torch.ones(4, device="cuda").tolist()  # expect: SYN102 (once)


class Table:
    def __init__(self):
        self.ranks = torch.ones(4, device="cuda").tolist()  # expect: SYN102 (unknown)

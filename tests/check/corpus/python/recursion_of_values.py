"""Programs whose values would grow without end."""

import functools

import torch


class Node:
    def __init__(self, value, following=None):
        self.value = value
        self.following = following

    def last(self):
        return self if self.following is None else self.following.last()

    def total(self):
        return self.value + (self.following.total() if self.following else 0)


def nest(value, depth: int):
    return nest([value], depth - 1) if depth else value


def wrap(function, depth: int):
    return wrap(functools.partial(function, 1), depth - 1) if depth else function


def tuples(depth: int):
    pair = (torch.ones(1, device="cuda"),)
    for _ in range(depth):
        pair = (pair, pair)
    return pair


node = Node(torch.ones(1, device="cuda"), Node(torch.ones(1, device="cuda")))
node.last().value.item()  # expect: SYN101
node.total().item()  # expect: SYN101
nest(torch.ones(1, device="cuda"), 3)
wrap(nest, 4)
tuples(5)
twice = lambda f: f(f)  # noqa: E731
twice(twice)
torch.ones(1, device="cuda").item()  # expect: SYN101

"""Nothing runs behind a loop that never ends, or behind what leaves a function."""

import sys

import torch


def serve(requests):
    t = torch.ones(1, device="cuda")
    while True:
        requests.get()
    t.item()  # silent


def stop(code: int):
    t = torch.ones(1, device="cuda")
    if code:
        sys.exit(code)
        t.item()  # silent
    return code
    t.item()  # silent


def refuse(code: int):
    t = torch.ones(1, device="cuda")
    try:
        raise ValueError(code)
        t.item()  # silent
    finally:
        t.item()  # expect: SYN101


def never():
    assert False, "this backend has no such operation"
    torch.ones(1, device="cuda").item()  # silent

"""A variable that may hold a function calls that function: the loop around the call has the steps, whatever wraps the function."""

import functools

import torch


def agree(ok):
    return torch.tensor([ok], device="cuda").item()  # expect: SYN101 (step), SYN301 (step)
    # reached: train_step > agree


def train_step(run, optimizer):
    run()
    return agree(optimizer.step())


def train(run, optimizer, state, manager):
    wrapped = train_step
    if manager is not None:
        wrapped = manager.wrap(train_step)
    while state.step < 9:
        wrapped(run, optimizer)
        state.step += 1


def poll(ids):
    return torch.tensor([1, 2], device="cuda")  # expect: SYN301 (unknown)


def wait(ids):
    return torch.tensor([1, 2], device="cuda")  # expect: SYN301 (unknown)


def fit(ids, is_fast):
    ask = functools.partial(poll, ids)
    pause = wait if is_fast else print
    while ask() is not None:
        pause(ids)


def probe(ids):
    return torch.tensor([1, 2], device="cuda")  # expect: SYN301 (once)


def setup(ids, is_fast):
    read = probe if is_fast else print
    read(ids)

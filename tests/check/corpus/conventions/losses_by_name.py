"""A loss is computed where the model is: `loss.item()` reads a number of the GPU wherever the loss comes from."""

import torch
from backend import lease


def train(loader):
    for batch in loader:
        loss, parts = lease(batch)
        print(loss.item())  # expect: SYN101 (step, inferred)
        for name, part_loss in parts.items():
            print(name, part_loss.item())  # expect: SYN101 (step, inferred)
        out = lease(batch)
        print(out["loss"].item())  # expect: SYN101 (step, inferred)
        print(out.total_loss.item())  # expect: SYN101 (step, inferred)
        losses = lease(batch)
        print(losses[0].item())  # expect: SYN101 (step, inferred)
        print(losses["box"].item())  # expect: SYN101 (step, inferred)
        print(out["count"].item(), out.item())  # silent
        loss_fn = lease(batch)
        print(loss_fn.item())  # silent


def of_a_state(state):
    if isinstance(state.loss, torch.Tensor) and torch.isnan(state.loss):  # expect: SYN104 (inferred)
        return None
    return state.loss


def on_the_host(rows):
    loss = torch.as_tensor(rows).cpu().sum()  # silent
    return loss.item()  # silent


def of_a_state_with_a_test(state):
    if not isinstance(state.loss, torch.Tensor):
        raise TypeError
    return state.loss.item()  # expect: SYN101 (inferred)


def of_some(losses):
    return losses["box"].item() if losses["box"] is not None else 0  # expect: SYN101 (inferred)

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


def of_host_tensors(criterion, out, y, engine):
    loss = criterion(out.cpu(), y.cpu())
    mean_loss = engine(y).cpu().mean()  # expect: SYN105
    return loss.item() + mean_loss.item()  # silent


def of_files(path):
    state = torch.load(path, map_location="cpu")
    return state["best_loss"].item()  # silent


def of_copies(out, to_cpu, table):
    host = {name: value.cpu() for name, value in out.items()}  # expect: SYN105
    rows = [row["loss"].item() for _, row in table.iterrows()]  # silent
    losses = torch.stack([each.cpu() for each in out])  # expect: SYN105
    return host["loss"].item(), to_cpu(out)["loss"].item(), rows, losses.mean().item()  # silent

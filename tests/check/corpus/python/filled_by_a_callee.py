"""A function that fills a dictionary or a list of its caller: what the callee puts there, the caller finds."""

import torch
from torch.utils.data import DataLoader


def move(batch: dict, device) -> None:
    for name, value in batch.items():
        if isinstance(value, dict):
            move(value, device)
        elif isinstance(value, torch.Tensor):
            batch[name] = value.to(device)  # expect: SYN302


def train(loader: DataLoader, model: torch.nn.Module):
    device = torch.device("cuda")
    for batch in loader:
        move(batch, device)
        labels = batch.pop("labels")
        print(labels.sum().item())  # expect: SYN101


def collect(found: list, scores) -> None:
    if len(found) > 100:
        return
    found.append(scores * 2)


def handed_on(found: list, scores) -> None:
    collect(found, scores)


def collected():
    found = []
    names = []
    for _ in range(3):
        handed_on(found, torch.zeros(3, device="cuda"))
        collect(names, 3)
    for each in found:
        print(each.sum().item())  # expect: SYN101
    return float(names[0])


class Step:
    def measure(self, totals):
        totals["loss"] = torch.zeros((), device="cuda")
        totals["steps"] = 3

    def run(self):
        totals = {}
        self.measure(totals)
        print(totals["steps"] + 1)  # silent
        return totals["loss"].item()  # expect: SYN101


def replaced(totals):
    totals = dict(totals)
    totals["loss"] = torch.zeros((), device="cuda")
    return totals


def of_a_copy():
    totals = {"loss": 0.5}
    replaced(totals)
    return float(totals["loss"])  # silent: the callee fills a dictionary of its own


class Wider(Step):
    def measure(self, totals):
        totals["found"] = torch.zeros(3, device="cuda")


def through_a_base(step: Step):
    totals = {}
    step.measure(totals)
    return totals["found"].tolist()  # expect: SYN102


def note(values: dict, name, value):
    values[name] = value


def counted(rows: list):
    losses, steps = {}, {}
    note(losses, "loss", torch.zeros((), device="cuda"))
    note(steps, "step", 0)
    known = {"a": torch.zeros(3, device="cuda")}
    note(known, "name", "x")
    known["a"].tolist()  # expect: SYN102
    return rows[steps["step"]]  # silent: a number, whatever others put under names of their own

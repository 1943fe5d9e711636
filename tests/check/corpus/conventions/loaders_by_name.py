"""A loader that is known by its name yields batches on the host; a framework that prepares the loader moves them."""

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader


def train(train_loader, device, net):
    for step, (x, y) in enumerate(train_loader):
        x = x.to(device)  # expect: SYN302
        y = y.cuda(non_blocking=True)  # silent: the memory may be pinned
        net(x, y)
        print(step)  # silent


class Trainer:
    def __init__(self, loader, weights_loader):
        self.loader = loader
        self.weights_loader = weights_loader

    def run(self, data_loader):
        for batch in data_loader:
            yield batch["image"].cuda()  # expect: SYN302

    def load(self):
        for name, weight in self.weights_loader:
            yield name, weight.to("cuda")  # silent: another loader


def prepared(rows, accelerator: Accelerator):
    loader = accelerator.prepare(DataLoader(rows))
    for batch in loader:
        x = batch["x"].to(accelerator.device)  # silent: it is there
        yield x[batch["mask"] > 0]  # expect: SYN201


def moved_by_fabric(rows, fabric):
    loader, others = fabric.setup_dataloaders(DataLoader(rows), DataLoader(rows))
    for batch in loader:
        yield torch.sum(batch["x"]).item()  # expect: SYN101
    for batch in others:
        yield batch["x"].cpu()  # expect: SYN105

"""A loader's batches are moved, and wait unless they come from pinned memory."""

import itertools

import torch
from torch.utils.data import DataLoader
from tqdm.auto import tqdm


def train(dataset):
    loader = DataLoader(dataset, batch_size=4, pin_memory=True)
    for images, labels in loader:
        images = images.to("cuda", non_blocking=True)  # silent
        labels = labels.cuda(non_blocking=True)  # silent
        right = (images.argmax(-1) == labels).sum()
        print(right.item())  # expect: SYN101
    for batch in loader:
        batch = {name: value.to("cuda") for name, value in batch.items()}  # expect: SYN302
        batch["ids"].sum().item()  # expect: SYN101


def uploads(dataset, model, device):
    """A batch is in host memory, whatever it consists of."""
    loader = DataLoader(dataset, batch_size=4)
    for images, labels in loader:
        images = images.to(device)  # expect: SYN302
        model(images, labels.cuda())  # expect: SYN302
        if labels.sum() > 3:  # silent
            print(labels, labels[0].item())  # silent
    for batch in loader:
        model(batch["ids"].to(device))  # expect: SYN302
    for number, (x, y) in enumerate(tqdm(loader)):
        x, y = x.to(device), y[number].cuda()  # expect: SYN302, SYN302
        print((x * y).sum().item())  # expect: SYN101
    for batch in itertools.islice(loader, 3):
        batch = {name: value.to(device) for name, value in batch.items()}  # expect: SYN302
        print(batch["x"].sum().item())  # expect: SYN101
    for batch in loader:
        moved = [value.to(device) for value in batch.values()]  # expect: SYN302
        placed(batch["x"], device)
        print(batch.keys(), moved[0].sum().item())  # expect: SYN101
    for batch in loader:
        batch = batch.to(device)  # expect: SYN302
        print(batch["input_ids"].sum().item())  # expect: SYN101
    return next(iter(loader))[0].to(device)  # expect: SYN302


def placed(x: torch.Tensor, device):
    return x.to(device)  # expect: SYN302


class Net(torch.nn.Module):
    def forward(self, loader):
        return self.head(next(iter(DataLoader(loader)))).sum().item()  # silent


class Trainer:
    """A framework moves the batches of a loader that it prepares."""

    def __init__(self, dataset, model, accelerator, fabric):
        self.loader = DataLoader(dataset, batch_size=4)
        self.model, self.loader = accelerator.prepare(model, self.loader)
        self.own = DataLoader(dataset)
        self.other = fabric.setup_dataloaders(DataLoader(dataset))

    def train(self, device):
        for batch in self.loader:
            x = batch["x"].to(device)  # silent
            print(x.sum().item())  # expect: SYN101
        for x, y in self.other:
            self.model(x.to(device))  # silent
        for x, y in self.own:
            self.model(x.to(device))  # expect: SYN302


def prepared_from_elsewhere(fabric, data):
    train, val = fabric.setup_dataloaders(data.train(), data.val())
    for batch in train:
        batch["loss"].item()  # expect: SYN101
    next(iter(val))["loss"].item()  # expect: SYN101


class Helper:
    def setup_dataloaders(self, settings):
        return settings.loaders


def prepared_by_helpers(library, settings, flag):
    for x in library.prepare_dataloaders(settings):
        x.sum().item()  # silent
    helper = Helper() if flag else None
    for x in helper.setup_dataloaders(settings):
        x.sum().item()  # silent

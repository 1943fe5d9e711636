"""Loops that train, and those that read batches, are steps; what stands around them runs once."""

import torch
from torch.utils.data import DataLoader


def loss_of(batch):
    return batch.sum()


def report(loss):
    return loss.item()  # expect: SYN101 (step)
    # reached: report


def save_checkpoint(best):
    return best.cpu()  # expect: SYN105 (once)


def set_up():
    return torch.ones(3, device="cuda").sum().item()  # expect: SYN101 (once)


def main():
    set_up()
    torch.ones(3, device="cuda").sum().item()  # expect: SYN101 (once)
    for _ in range(10):
        loss = loss_of(torch.ones(3, device="cuda"))
        loss.backward()
        report(loss)
        loss.item()  # expect: SYN101 (step)
    for name in ("a", "b"):
        print(name, torch.ones(3, device="cuda"))  # expect: SYN107 (unknown)


def fit(loader: DataLoader):
    for number, batch in enumerate(loader):
        loss = loss_of(batch.cuda())  # expect: SYN302 (step)
        loss.backward()
        if number % 100 == 0:
            save_checkpoint(loss)


def evaluate(loader: DataLoader):
    total = 0.0
    for batch in loader:
        total += batch.cuda().sum().item()  # expect: SYN302 (step), SYN101 (step)
    for batch in enumerate(loader):
        total += torch.ones(3, device="cuda").item()  # expect: SYN101 (step)
    return torch.tensor(total, device="cuda").item()  # expect: SYN101 (unknown) # expect: SYN301 (unknown)


main()
torch.ones(3, device="cuda").item()  # expect: SYN101 (unknown)


class Brain:
    def fit(self, epoch_counter, train_set):
        for _ in epoch_counter:
            self._fit_train(train_set)

    def _fit_train(self, train_set):
        for batch in train_set:
            self.fit_batch(batch)

    def fit_batch(self, batch):
        loss = self.compute(batch)
        with self.no_sync():
            self.scaler.scale(loss).backward()
        return loss.item()  # expect: SYN101 (step)


def load_model(model):
    def hook(x):
        torch.cuda.synchronize()  # expect: SYN401 (unknown)

    def forward(x):
        torch.cuda.synchronize()  # expect: SYN401 (unknown)

    def now(x):
        torch.cuda.synchronize()  # expect: SYN401 (once)
        return x

    model.forward = forward
    return hook, now(1)

"""Statements of an epoch, beside its loop over batches, run in few steps."""

import torch


class Trainer:
    def run_training(self):
        for epoch in range(10):
            outputs = []
            for i in range(250):
                outputs.append(self.train_step(next(self.data)))
            self.on_train_epoch_end(outputs)

    def train_step(self, batch):
        loss = self.net(batch["x"].cuda()).sum()
        loss.backward()
        return loss.item()  # expect: SYN101 (step)

    def on_train_epoch_end(self, outputs: list[torch.Tensor]):
        loss = torch.stack(outputs).mean()
        print(loss.item())  # expect: SYN101 (once, inferred)


class OneEpoch:
    def fit(self):
        for _ in range(3):
            self.train_epoch(self.loader)

    def train_epoch(self, loader):
        stop = torch.tensor(0).cuda()  # expect: SYN302 (once)
        for x in loader:
            loss = self.model(x.cuda()).sum()  # expect: SYN302 (step)
            loss.backward()
            print(loss.item())  # expect: SYN101 (step)
        self.report(loss + stop)

    def report(self, loss):
        return loss.item()  # expect: SYN101 (once)


def train(model, loader, optimizer, scheduler):
    for epoch in range(3):
        total = torch.zeros((), device="cuda")
        for x in loader:
            loss = model(x.cuda()).sum()  # expect: SYN302 (step)
            loss.backward()
            optimizer.step()
            total += loss.detach()
            print(loss.item())  # expect: SYN101 (step)
        scheduler.step()
        print(total.item())  # expect: SYN101 (once)


def micro_batches_are_parts_of_a_step(model, batches, optimizer):
    for step in range(1000):
        total = torch.zeros((), device="cuda")
        for part in range(4):
            loss = model(batches[part]).sum()
            loss.backward()
            total += loss.detach()
        optimizer.step()
        print(total.item())  # expect: SYN101 (step)


def the_first_iterations(model, loader):
    for iteration, x in enumerate(loader):
        loss = model(x.cuda()).sum()  # expect: SYN302 (step)
        loss.backward()
        log(loss, iteration)


def log(loss: torch.Tensor, iteration):
    if iteration < 20:
        print(loss.item())  # expect: SYN101 (once)
    return loss.item()  # expect: SYN101 (step)


def behind_a_progress_bar(model, loader, optimizer):
    for epoch in range(3):
        total = torch.zeros((), device="cuda")
        bar = enumerate(loader)
        for i, batch in bar:
            loss = model(batch.cuda()).sum()  # expect: SYN302 (step)
            loss.backward()
            optimizer.step()
            total += loss.detach()
        print(total.item())  # expect: SYN101 (once)


def mini_batches_are_parts_of_a_step(model, batches, optimizer):
    for step in range(1000):
        total = torch.zeros((), device="cuda")
        for mini_batch in batches[step]:
            loss = model(mini_batch).sum()
            loss.backward()
            total += loss.detach()
        optimizer.step()
        print(total.item())  # expect: SYN101 (step)


class Recipe:
    def _run_validation_epoch(self, loader):
        total = torch.zeros((), device="cuda")
        with torch.no_grad():
            for batch in loader:
                loss = self.model(batch.cuda()).sum()  # expect: SYN302 (step)
                total += loss
        return total.item()  # expect: SYN101 (once)

    def run_train_validation_loop(self, loader):
        for batch in loader:
            loss = self.model(batch.cuda()).sum()  # expect: SYN302 (step)
            loss.backward()
            self._run_validation_epoch(loader)

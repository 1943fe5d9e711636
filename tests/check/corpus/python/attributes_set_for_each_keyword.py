"""A method that sets an attribute for each of its keywords: each call sets those that it names, on its own class."""

import torch


class Scheduler:
    def set_timesteps(self, n: int):
        self.sigmas = torch.linspace(1, 0, n, device="cuda")


class Base:
    def register(self, **kwargs):
        for name, value in kwargs.items():
            setattr(self, name, value)

    def counted(self, **kwargs):
        for name, value in kwargs.items():
            setattr(self, "last", value)


class Pipeline(Base):
    def __init__(self, scheduler: Scheduler, names: list[str]):
        self.register(scheduler=scheduler, names=names)
        self.counted(ids=torch.zeros(3, device="cuda"))

    def __call__(self):
        self.scheduler.set_timesteps(3)
        if self.names:  # silent
            print(self.names[0])  # silent
        self.ids.tolist()  # silent: another attribute is set
        return float(self.scheduler.sigmas[0])  # expect: SYN103


class Other(Base):
    def __init__(self):
        self.register(scheduler=3)

    def step(self):
        return float(self.scheduler)  # silent: of another class


class Record:
    def __init__(self, **values):
        for key, value in values.items():
            setattr(self, key, value)


def read():
    record = Record(loss=torch.zeros((), device="cuda"), steps=3)
    print(float(record.steps))  # silent
    return record.loss.item()  # expect: SYN101


class Chosen:
    def __init__(self, **values):
        for key, value in values.items():
            if key.startswith("_"):
                continue
            setattr(self, key, value)


def some_are_left_out():
    chosen = Chosen(_loss=torch.zeros((), device="cuda"))
    return float(chosen._loss)  # silent

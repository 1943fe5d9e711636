import torch
from torch import nn

SCHEDULERS = {}
MODELS = {}


def register(name):
    def decorate(cls):
        SCHEDULERS[name] = cls
        return cls

    return decorate


def register_model(function):
    MODELS[function.__name__] = function
    return function


class Registry:
    def __init__(self):
        self.table = {}

    def register(self, name=None):
        def decorate(cls):
            self.table[name or cls.__name__] = cls
            return cls

        return decorate

    def build(self, name, *args):
        return self.table[name](*args)


HEADS = Registry()


@register("linear")
class Linear:
    def start(self, device):
        self.steps = torch.arange(8).to(device)  # expect: SYN302

    def last(self):
        return self.steps.max().item()  # expect: SYN101


@register("cosine")
class Cosine(Linear):
    def last(self):
        return self.steps.tolist()  # expect: SYN102


@HEADS.register("plain")
class Plain:
    def __init__(self, scores):
        self.scores = scores

    def best(self):
        return self.scores.max().item()  # expect: SYN101


@HEADS.register()
class Counting:
    def __init__(self, scores):
        self.numbers = scores

    def best(self):
        return int(self.numbers.sum())  # expect: SYN103


@register_model
def tiny(size):
    return nn.Linear(size, size)


@register_model
def large(size):
    return nn.Linear(size, 2 * size)


class Worst:
    @HEADS.register()
    def worst(self):
        return 1


def worst(scores):
    return scores.item()  # silent: the method of this name is registered


def create(name, size):
    return MODELS[name](size)


def run(name):
    scheduler = SCHEDULERS[name]()
    scheduler.start("cuda")
    scheduler.last()
    HEADS.build(name, torch.ones(4, device="cuda")).best()
    create(name, 8).to("cuda")  # expect: SYN302


run("linear")

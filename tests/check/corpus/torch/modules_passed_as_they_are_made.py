"""A function that gets a module which its caller has just made gets it on the host."""

import torch
from torch import nn

DEVICE = torch.device("cuda")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x)


class Trainer:
    def __init__(self, model, other, *, third):
        self.model = model.to(DEVICE)  # expect: SYN302
        other.to(DEVICE)  # expect: SYN302
        self.third = third.cuda()  # expect: SYN302

    def again(self):
        self.model.to(DEVICE)  # silent


def train(model, count):
    model = model.to(DEVICE)  # expect: SYN302
    return model(torch.ones(4, device=DEVICE)).sum().item() / count  # expect: SYN101


def in_place(layer, x):
    layer.to(DEVICE)  # expect: SYN302
    layer.to(DEVICE)  # silent
    return layer(x).sum().item()  # expect: SYN101


def in_a_loop(model, batches):
    for _ in batches:
        model.to(DEVICE)  # silent: it is there after the first


def looked_at(model):
    print(model)
    model.to(DEVICE)  # silent: the call may have moved it


def moved_before(model):
    model.to(DEVICE)  # silent


def stored(model):
    model.to(DEVICE)  # silent: the list may have moved it


def passed_on(model):
    received(model)


def received(model):
    model.to(DEVICE)  # expect: SYN302


class Wrapper(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner


class Derived(Wrapper):
    def __init__(self, inner, count):
        super().__init__(inner)
        self.count = count


class Moves(Wrapper):
    def __init__(self, inner):
        inner.to(DEVICE)  # expect: SYN302
        super().__init__(inner)


def place(model):
    model.to(DEVICE)  # silent: parts of it may have been moved
    return model


class Rebinds(Wrapper):
    def __init__(self, inner):
        inner = place(inner)
        super().__init__(inner)


class Places(Wrapper):
    def __init__(self, inner):
        place(inner)
        super().__init__(inner)


class PlacesAfterwards(Wrapper):
    def __init__(self, inner):
        super().__init__(inner)
        place(self.inner)


class PlacesTheOwn(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner
        place(self.inner)


class Second(nn.Module):
    def __init__(self, first, second):
        super().__init__()
        self.second = second


class Starred(Second):
    def __init__(self, inner, *more):
        super().__init__(*more, inner)


class Inside(Wrapper):
    def __init__(self, inner):
        def make(inner):
            super().__init__(inner)

        make(None)


class NamesItself(Second):
    def __init__(self, inner):
        super(NamesItself, self).__init__(None, second=inner)


def of_a_part(model):
    place(model.linear)
    received_last(model)


def received_last(model):
    model.to(DEVICE)  # silent: its part was moved


def keeps_nothing_in_place():
    Rebinds(Net()).to(DEVICE)  # silent
    Places(Net()).to(DEVICE)  # silent
    PlacesAfterwards(Net()).to(DEVICE)  # silent
    PlacesTheOwn(Net()).to(DEVICE)  # silent
    Starred(Net(), 1, 2).to(DEVICE)  # silent
    Inside(Net()).to(DEVICE)  # silent
    NamesItself(Net()).to(DEVICE)  # expect: SYN302
    of_a_part(Net())


def run(batches):
    model = Net()
    model.train()
    train(model, sum(each.numel() for each in model.parameters()))
    Trainer(Net(), Net().eval(), third=nn.Linear(4, 4))
    in_place(nn.Linear(4, 4), torch.ones(4, device=DEVICE))
    in_a_loop(Net(), batches)
    looked_at(Net())
    moved = Net().to(DEVICE)  # expect: SYN302
    moved_before(moved)
    kept = Net()
    models = [kept]
    stored(kept)
    passed_on(Net())
    wrapped = Derived(Net(), 3).to(DEVICE)  # expect: SYN302
    again = Moves(Net()).to(DEVICE)  # silent
    return models, wrapped, again

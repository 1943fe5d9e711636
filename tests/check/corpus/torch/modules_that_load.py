"""A module on the GPU that loads a state from the host copies each tensor of it."""

import copy

import torch
from torch import nn


class Stopper:
    def __init__(self):
        self.state = None

    def keep(self, model):
        state = model.state_dict()
        self.state = {name: state[name].cpu() for name in state}  # expect: SYN105


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)


def restored(path):
    net = Net().to("cuda")  # expect: SYN302
    stopper = Stopper()
    stopper.keep(net)
    net.load_state_dict(stopper.state)  # expect: SYN302
    saved = torch.load(path, map_location="cpu")
    net.load_state_dict(saved["net"])  # expect: SYN302
    net.linear.load_state_dict(saved)  # expect: SYN302
    rows = saved["rows"].to("cuda")  # expect: SYN302
    if saved["epoch"] > 3:  # silent
        print(saved["loss"].item())  # silent
    return rows


def passed_on(model: nn.Module, path):
    best = copy.deepcopy(model.state_dict())
    model.load_state_dict(best)  # silent
    model.load_state_dict(torch.load(path, map_location="cpu"))  # expect: SYN302
    model.load_state_dict(torch.load(path))  # silent


def on_the_host(path):
    net = Net()
    net.load_state_dict(torch.load(path, map_location="cpu"))  # silent
    return net


def reduced():
    parameters = [torch.zeros(4, device="cuda")]
    optimizer = torch.optim.SGD(parameters, 0.1)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=2)
    plateau.step(parameters[0].mean())  # expect: SYN106
    plateau.step(0.5)  # silent
    return plateau


def checked():
    scores = torch.zeros(5, 2, 20, device="cuda")
    ctc, gaussian = nn.CTCLoss(), nn.GaussianNLLLoss()
    ctc(scores, torch.ones(2, 3), torch.ones(2), torch.ones(2))  # expect: SYN206
    gaussian(scores, scores, scores)  # expect: SYN106

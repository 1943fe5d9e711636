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


class Backbone(nn.Module):
    def __init__(self, state):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.init_weights(state)

    def init_weights(self, state):
        self.load_state_dict({name: state[name].cpu() for name in state})  # silent


class Twins:
    def __init__(self):
        self.net = Net()
        self.target = Net()
        self.net.cuda()  # expect: SYN302
        self.target.cuda()  # expect: SYN302
        self.target.load_state_dict(self.net.state_dict())  # silent


def restored():
    net = Net().to("cuda")  # expect: SYN302
    stopper = Stopper()
    stopper.keep(net)
    net.load_state_dict(stopper.state)  # expect: SYN302
    return net


def passed_on(model: nn.Module, stopper: Stopper):
    best = copy.deepcopy(model.state_dict())
    model.load_state_dict(best)  # silent
    model.load_state_dict(stopper.state)  # expect: SYN302


def on_the_host(stopper: Stopper):
    net, other = Net(), Net()
    net.load_state_dict(stopper.state)  # silent
    net.load_state_dict(other.state_dict())  # silent
    return Backbone(stopper.state)


def back_on_the_host(stopper: Stopper):
    net, other = Net().to("cuda"), Net().to("cpu")  # expect: SYN302
    net = net.cpu()
    net.load_state_dict(stopper.state)  # silent
    other.load_state_dict(stopper.state)  # silent
    return net, other


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
    ctc(scores, torch.ones(2, 3), torch.ones(2), torch.ones(2))  # expect: SYN302
    gaussian(scores, scores, scores)  # expect: SYN106

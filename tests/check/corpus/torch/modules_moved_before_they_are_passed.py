"""A function gets a module that its caller may have moved: through a closure, a bound method, or the parts of the module."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(3, 3)


def fit(model):
    model = model.to("cuda")  # silent


def a():
    net = Net()

    def mv():
        net.cuda()

    mv()
    fit(net)


def mv2():
    G.cuda()


def b():
    global G
    G = Net()
    mv2()
    fit(G)


def c():
    net = Net()
    f = net.cuda
    f()
    fit(net)


def d():
    net = Net()
    for m in net.modules():
        m.cuda()
    fit(net)


def e():
    net = Net()
    [c.to("cuda") for c in net.children()]
    fit(net)


def f():
    net = Net()
    for p in net.parameters():
        p.data = p.data.cuda()
    fit(net)


def g():
    net = Net()
    l = net.l
    l.cuda()
    fit(net)


def h():
    net = Net()
    net.l.cuda()
    fit(net)


def i():
    net = Net()
    h = lambda: net.cuda()
    h()
    fit(net)


def j():
    net = nn.Linear(3, 3)
    getattr(net, "cuda")()

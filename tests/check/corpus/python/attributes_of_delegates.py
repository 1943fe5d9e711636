import torch
from torch import nn


class Data:
    def __init__(self, **given):
        self._store = dict(given)

    def __getattr__(self, key):
        try:
            return self._store[key]
        except KeyError:
            raise AttributeError(key) from None


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(4))

    def read(self, x):
        return x.sum().item()  # expect: SYN101


class Wrapper(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module
        self.count = 0

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.module, name)


class Loop:
    def __init__(self, loop):
        self.loop = loop

    def __getattr__(self, name):
        return getattr(self.loop, name)


class Environment:
    def __init__(self):
        self.state = torch.ones(4, device="cuda")


def run():
    x = torch.ones(4, device="cuda")
    data = Data(x=x, size=torch.ones(4))
    print(data.x.sum().item())  # expect: SYN101
    print(data.size.sum().item())  # silent
    wrapper = Wrapper(Inner().to("cuda"))  # expect: SYN302
    wrapper.read(x)
    print(wrapper.scale.sum().item())  # expect: SYN101
    print(f"{wrapper.count}")  # silent
    print(Loop(Environment()).state.max().item())  # expect: SYN101
    print(Loop(Loop(Environment())).count)  # silent: no code stores it


run()

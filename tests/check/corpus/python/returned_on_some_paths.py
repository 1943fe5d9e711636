"""A function that returns its argument on some paths gives each caller its own there."""

import torch


def fitted(x, other):
    if x.dtype != other.dtype:
        x = x.to(other.dtype)
    return x


def doubled(x, flag):
    y = x
    if flag:
        y = [x, x]
    elif x is None:
        y = 3
    return y


def use(flag):
    gpu, host = torch.ones(3, device="cuda"), torch.ones(3)
    fitted(gpu, host).tolist()  # expect: SYN102
    fitted(host, gpu).tolist()  # silent
    count = doubled(3, flag)
    if count == 3:  # silent
        return doubled(host, flag)
    return doubled(gpu, flag)


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        for layer in self.layers:
            x = layer(x)
        return x


def run(net: Net, ids: torch.Tensor):
    return net(ids).tolist()  # expect: SYN102

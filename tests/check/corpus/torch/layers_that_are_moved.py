"""A layer of torch that is moved to the GPU gives what is there, whatever it is called with."""

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

layer = nn.Linear(4, 4).cuda()  # expect: SYN302
wrapped = DDP(layer)
on_host = nn.Linear(4, 4)
to_and_fro = nn.Linear(4, 4).cuda().to("cpu")  # expect: SYN302


def of_unknown(x):
    print(layer(x).sum().item())  # expect: SYN101
    print(wrapped(x).sum().item())  # expect: SYN101
    print(wrapped.eval()(x).sum().item())  # expect: SYN101
    print(on_host(x).sum().item())  # silent
    print(to_and_fro(x).sum().item())  # silent


def of_moved(model, batch):
    loss = model(batch["x"].cuda(non_blocking=True)).mean()
    return loss.item()  # expect: SYN101


def of_what_is_there(x):
    print(on_host(x.cuda()).sum().item())  # expect: SYN101
    print(nn.Linear(4, 4).to("cuda")(x).sum().item())  # expect: SYN101, SYN302
    print(nn.Linear(4, 4).to(torch.float16)(x).sum().item())  # silent
    print(nn.Linear(4, 4).to("cpu")(x).sum().item())  # silent
    print(int(layer), layer.in_features, on_host.weight)  # silent
    print(layer.weight)  # expect: SYN107
    if layer:  # silent
        return nn.Sequential(nn.ReLU(), layer)(x).tolist()  # expect: SYN102
    return nn.Sequential(nn.ReLU(), on_host)(x).tolist()  # silent


of_moved(wrapped, {})

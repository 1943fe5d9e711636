"""A tuple, list or dictionary that a module or a loader gives holds tensors where the tensors of it are."""

import torch
from torch import nn
from torch.utils.data import DataLoader


def watch(model: nn.Module, rows):
    def hook(layer, given, made):
        assert isinstance(made, tuple) and len(made) == 2
        weights = made[-1]
        if weights.shape[-2] > 1:
            weights = weights[:, :, -1:, :]
        rows.append(weights.cpu())  # expect: SYN105

    model.register_forward_hook(lambda layer, given, made: hook(layer, given, made))


def train(dataset):
    for batch in DataLoader(dataset):
        if isinstance(batch, (tuple, list)):
            x, y = batch
            x.tolist()  # silent
            x = x.cuda()  # expect: SYN302
            print(x.sum().item())  # expect: SYN101
        elif isinstance(batch, dict):
            z = batch["x"].cuda()  # expect: SYN302
            print(z.sum().item())  # expect: SYN101


def infer(model: nn.Module, x: torch.Tensor):
    out = model.cuda()(x)
    if isinstance(out, (list, tuple)):
        out = out[0]
    return out.sum().item()  # expect: SYN101


def check(model: nn.Module, x: torch.Tensor):
    out = model.cuda()(x)
    loss = out.get("loss") if isinstance(out, dict) else out
    if torch.isnan(loss).any():  # expect: SYN104
        raise ValueError

"""A sum begins with a number and becomes a tensor: where a program reads it, the read of the tensor counts."""

import torch


class AverageMeter:
    def __init__(self):
        self.reset()

    def reset(self):
        self.val = 0
        self.avg = 0
        self.sum = 0
        self.count = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count


class Numbers:
    def __init__(self):
        self.sum = 0.0

    def update(self, val):
        self.sum += val


def train(model: torch.nn.Module, batches: list[torch.Tensor]):
    losses, steps, total = AverageMeter(), Numbers(), 0.0
    for batch in batches:
        loss = model(batch.cuda(non_blocking=True)).mean()
        total += loss
        losses.update(loss)
        steps.update(2.5)
    print(total)  # expect: SYN107
    print(losses.avg)  # expect: SYN107
    print(steps.sum)  # silent
    if losses.avg > 3 or steps.sum > 5:  # expect: SYN104 `losses.avg > 3`
        return 0
    return float(total)  # expect: SYN103


def chosen(x: torch.Tensor, wanted: bool):
    scale = 1.5
    if wanted:
        scale = x.cuda(non_blocking=True).mean()
    return float(scale)  # silent: as often a number

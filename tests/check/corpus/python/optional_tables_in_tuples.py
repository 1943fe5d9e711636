"""What may be None is no deeper than what it may be: a pair of a list of tables is followed."""

import torch


def transform(images, targets: list[dict[str, torch.Tensor]] | None):
    if targets is not None:
        targets = [{name: value.cuda() for name, value in target.items()} for target in targets]
    return images, targets


def run(images, targets):
    images, targets = transform(images, targets)
    for target in targets:
        target["boxes"].tolist()  # expect: SYN102

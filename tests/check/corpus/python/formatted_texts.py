"""A text that `%` formats is a text, also if a tensor is in it."""

import torch


def show(scale):
    loss = torch.ones((), device="cuda")
    print("loss %f" % loss, end="")  # expect: SYN107
    text = "loss %s, %d" % (loss, scale)  # expect: SYN107
    print(text)
    if text:
        print(str(text))
    return loss % 2

"""An object whose `backward` takes the loss is an engine and no tensor, and what may be a text is written as one."""

import torch
from somewhere import Base


class Module(Base):
    def backward(self, loss):
        if self._fabric:  # silent
            self._fabric.backward(loss)
        else:
            loss.backward()

    def step(self, batch):
        loss = self.lossy(batch)
        loss.backward()
        print(loss.item())  # expect: SYN101


def show(where, flag):
    found = "last" if flag else torch.ones(3, device="cuda")
    print(f"from {found}")  # silent
    print("from %s" % found)  # silent
    rate = 0.1 if flag else torch.ones((), device="cuda")
    print(f"rate {rate}")  # expect: SYN107

import base
import torch


class Flash(base.Backend[torch.Tensor]):
    def build(self):
        return self.lens + 1


Flash(torch.ones(4, device="cuda")).read()

import torch


class Holder:
    def __init__(self):
        self.lens = torch.ones(4)

    def read(self):
        self.lens.tolist()  # silent: only a test puts it on the GPU
        return self.extra.tolist()  # silent

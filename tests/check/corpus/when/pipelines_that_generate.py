"""The `_forward` of a pipeline answers one request: the loop that runs the model has the steps, and what stands around it none."""

from contextlib import contextmanager

import torch
from transformers import Pipeline


class Press:
    @contextmanager
    def __call__(self, model):
        torch.tensor([1, 2], device="cuda")  # expect: SYN301 (unknown)
        yield
        self.compress(model)

    def compress(self, model):
        return torch.tensor([1, 2], device="cuda")  # expect: SYN301 (unknown)


class Generation(Pipeline):
    def _forward(self, ids, press: Press):
        with press(self.model):
            self.model(ids)
        return self.answer(ids)

    def answer(self, ids):
        torch.tensor([1, 2], device="cuda")  # expect: SYN301 (unknown)
        for _ in range(8):
            ids = self.model(ids)
            torch.tensor([1, 2], device="cuda")  # expect: SYN301 (step)


class Classification(Pipeline):
    def _forward(self, ids):
        return torch.tensor([1, 2], device="cuda")  # expect: SYN301 (step)

"""A branch that ends with an exception, or only reports a warning, runs in few steps."""

import logging
import warnings

import torch
from torch import nn

logger = logging.getLogger(__name__)


class Model(nn.Module):
    def forward(self, x: torch.Tensor, n: int):
        bad = torch.isnan(x)
        if bad.any():  # expect: SYN104 (step)
            first = bad.nonzero()[0]  # expect: SYN202 (once)
            raise ValueError(first)
        if n > 3:
            warnings.warn(f"{x.sum().item()}")  # expect: SYN101 (once)
        elif n > 2:
            x.sum().item()  # expect: SYN101 (step)
        else:
            self.describe(x)
            logger.warning("nothing to do")
        if n < 1:
            x = x.cpu()  # expect: SYN105 (step)
            logger.warning("falling back to the host")
        if n < -1:
            x.sum().item()  # expect: SYN101 (step)
            logger.warning_once("slow")
        if n < -2:
            x.sum().item()  # expect: SYN101 (step)
            raise StopIteration
        if n < -3:
            x.sum().item()  # expect: SYN101 (once)
            raise NotImplementedError("rows")
        if n < 0:
            logger.error("no rows")
            return x.sum().item()  # expect: SYN101 (step)
        return x

    def describe(self, x):
        return x.sum().item()  # expect: SYN101 (once)


class Pool(torch.nn.Module):
    def _raise_stale(self, slots):
        names = slots.tolist()  # expect: SYN102 (once)
        raise AssertionError(f"stale slots: {names}")

    def _take(self, slots):
        if self.free:
            return slots.tolist()  # expect: SYN102 (step)
        raise IndexError("no slots left")

    def forward(self, slots):
        slots = slots.cuda()
        if self.stale:
            self._raise_stale(slots + 1)
        return self._take(slots + 1)

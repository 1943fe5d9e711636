"""A GPU tensor that is written as text is read."""

import logging
import warnings

import torch

logger = logging.getLogger(__name__)


def run():
    t = torch.ones((), device="cuda")
    label = f"loss {t:.3f}"  # expect: SYN107
    shape = f"{t.shape} {t.device} {t.dtype}"  # silent
    nested = f"{label:>{10}} {[t]}"  # todo: SYN107
    old = "loss %s" % t  # expect: SYN107
    two = "%s %s" % (t, 1)  # expect: SYN107
    new = "loss {}".format(t)  # expect: SYN107
    logger.info("loss %s", t)  # expect: SYN107
    logger.debug("loss %s", t)  # silent: formatted only where that level is on
    logger.debug(f"loss {t}")  # expect: SYN107
    logging.warning("loss %s", t)  # expect: SYN107
    print(t.shape)  # silent
    return shape, nested, old, two, new


def summed(batches):
    total = 0.0
    for _ in batches:
        total += torch.ones((), device="cuda")
    return f"total {total:.3f}"  # expect: SYN107


def mean_of(x, count):
    return x.sum() / count if count else 0.0


def report():
    first = mean_of(torch.ones(3, device="cuda"), 3)
    second = mean_of(torch.ones(3), 3)
    return f"{first:.3f} {second:.3f}"  # expect: SYN107 `{first:.3f}`


def scaled(table, other):
    scaling = other if table else "none"
    return 2 / (scaling["factor"] * torch.ones(4, device="cuda"))  # silent: no text is asked for "factor"

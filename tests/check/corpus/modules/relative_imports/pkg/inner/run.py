import torch

from .. import device
from ..device import HOST
from . import WHERE


def run():
    torch.zeros(4, device=WHERE).tolist()  # expect: SYN102 (inferred)
    torch.zeros(4, device=device.WHERE).tolist()  # expect: SYN102 (inferred)
    torch.zeros(4, device=HOST).tolist()  # silent
    return torch.zeros(4, device=device.HOST).tolist()  # silent

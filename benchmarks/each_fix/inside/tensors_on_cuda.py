"""A pytest plugin: tensors are created on the GPU where the code names no device."""

import torch

torch.set_default_device("cuda")

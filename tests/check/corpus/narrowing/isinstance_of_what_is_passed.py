"""A test for numbers finds those that callers pass, beside the tensors that decide about the parameter."""

from typing import Union

import torch


def adjusted(image: torch.Tensor, factor: Union[float, torch.Tensor]):
    if isinstance(factor, float):
        factor = torch.as_tensor(factor, device=image.device)  # expect: SYN301
    elif isinstance(factor, torch.Tensor):
        factor = factor.to(image.device)  # silent
    return image * factor


def counted(image: torch.Tensor, factor: Union[int, torch.Tensor]):
    if isinstance(factor, torch.Tensor):
        return image * factor
    elif isinstance(factor, int):
        factor = torch.as_tensor(factor, device=image.device)  # expect: SYN301
    return image * factor


def never_a_number(image: torch.Tensor, factor: Union[float, torch.Tensor]):
    if isinstance(factor, float):
        factor = torch.as_tensor(factor, device=image.device)  # silent
    return image * factor


def run():
    image = torch.ones(4, device="cuda")
    adjusted(image, 2.0)
    adjusted(image, torch.ones(4, device="cuda"))
    counted(image, 2)
    counted(image, torch.ones(4, device="cuda"))
    never_a_number(image, image)

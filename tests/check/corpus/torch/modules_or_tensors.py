"""A helper takes tensors and modules: a method that no tensor has is that of a module."""

import torch


def move_to(obj: torch.Tensor | torch.nn.Module, device: torch.device):
    return obj.to(device=device, non_blocking=True)


def step(model, batch, device: torch.device):
    model = move_to(model, device)
    batch = move_to(batch, device)
    if batch.sum() > 0:  # expect: SYN104
        batch = batch * 2
    return replaced(model), batch


def replaced(model):
    names = []
    for name, child in model.named_children():
        if child == model.get_output_embeddings():
            continue
        if child:
            names.append(name)
    return names

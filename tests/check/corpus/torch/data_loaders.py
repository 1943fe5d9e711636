"""A loader's batches are moved, and wait unless they come from pinned memory."""

import torch
from torch.utils.data import DataLoader


def train(dataset):
    loader = DataLoader(dataset, batch_size=4, pin_memory=True)
    for images, labels in loader:
        images = images.to("cuda", non_blocking=True)  # silent
        labels = labels.cuda(non_blocking=True)  # silent
        right = (images.argmax(-1) == labels).sum()
        print(right.item())  # expect: SYN101
    for batch in loader:
        batch = {name: value.to("cuda") for name, value in batch.items()}
        batch["ids"].sum().item()  # expect: SYN101

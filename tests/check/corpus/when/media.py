"""Code for inputs with images, videos or sound runs in some steps only; the source does not say in how many."""

import torch
from torch import nn


class Vision(nn.Module):
    def place(self, grid):
        return torch.tensor([1, 2], device="cuda")  # expect: SYN301 (unknown)

    def shape(self, grid):
        return torch.tensor([1, 2], device="cuda")  # expect: SYN301 (step)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.vision = Vision()

    def forward(self, ids, pixel_values=None, image_data=None, videos=None, context=None):
        self.vision.shape(ids)
        if pixel_values is not None:
            torch.tensor([1, 2], device="cuda")  # expect: SYN301 (unknown)
            self.vision.place(pixel_values)
            self.vision.shape(pixel_values)
            self.prepare_inputs_embeds(pixel_values)
        if len(image_data) > 0:
            torch.tensor([1, 2], device="cuda")  # expect: SYN301 (unknown)
        if videos:
            torch.tensor([1, 2], device="cuda")  # expect: SYN301 (unknown)
        else:
            torch.tensor([1, 2], device="cuda")  # expect: SYN301 (step)
        if not context.multimodal_inputs:
            return torch.tensor([1, 2], device="cuda")  # expect: SYN301 (step)
        return torch.tensor([1, 2], device="cuda")  # expect: SYN301 (unknown)

    def prepare_inputs_embeds(self, pixel_values):
        return torch.tensor([1, 2], device="cuda")  # expect: SYN301 (unknown)

    def prepare_inputs_for_generation(self, ids):
        return torch.tensor([1, 2], device="cuda")  # expect: SYN301 (step)


class Classifier(nn.Module):
    def forward(self, pixel_values=None, audio_size=1):
        if pixel_values is None:
            raise ValueError("images are needed")
        if audio_size == 2:
            torch.tensor([1, 2], device="cuda")  # expect: SYN301 (step)
        return torch.tensor([1, 2], device="cuda")  # expect: SYN301 (step)


class Trainer:
    def __init__(self, image_head):
        self.image_head = image_head

    def training_step(self, batch):
        images = batch["images"]
        if len(images) == 0:
            return None
        for image_idx, image in enumerate(images):
            if image_idx != 0:
                torch.tensor([1, 2], device="cuda")  # expect: SYN301 (step)
        if self.image_head is not None:
            torch.tensor([1, 2], device="cuda")  # expect: SYN301 (step)
        return torch.tensor([1, 2], device="cuda")  # expect: SYN301 (step)

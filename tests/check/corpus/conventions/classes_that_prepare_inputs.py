"""Image processors, feature extractors and tokenizers work on the host, but for what reads a model's outputs."""

import torch
from torch import nn
from transformers import BaseImageProcessor, PreTrainedModel, ProcessorMixin


class PatchImageProcessor(BaseImageProcessor):
    def preprocess(self, images: list[torch.Tensor], device: torch.device):
        for image in images:
            image = image.to(device)
            if image.max() > 1:  # silent
                image = image / 255
            labels = torch.tensor([1, 2, 3], device=device)  # silent
            image[labels] = 0  # silent

    def post_process_masks(self, masks: torch.Tensor, device: torch.device):
        sizes = torch.tensor([1, 2, 3], device=device)  # expect: SYN301
        return masks.tolist(), sizes  # expect: SYN102 (assumed)

    def on_the_gpu(self, image: torch.Tensor):
        return image.cuda().max().item()  # expect: SYN101


class TwoProcessor(ProcessorMixin):
    def __call__(self, images: torch.Tensor):
        return images.tolist()  # silent

    def helper(self, device: torch.device):
        return counted(torch.zeros(4, device=device))


def counted(image: torch.Tensor):
    return image.sum().item()  # expect: SYN101 (assumed)


class WordTokenizer:
    def encode(self, ids: torch.Tensor):
        return ids.tolist()  # silent


class FeatureExtractor(nn.Module):
    def forward(self, x: torch.Tensor):
        return x.sum().item()  # expect: SYN101


class CodeTokenizer(PreTrainedModel):
    def forward(self, x: torch.Tensor):
        return x.sum().item()  # expect: SYN101 (inferred)


class TopLogitsProcessor:
    def __call__(self, scores: torch.Tensor):
        return scores.tolist()  # expect: SYN102 (assumed)

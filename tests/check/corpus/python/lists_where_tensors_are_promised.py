"""Who passes lists of numbers passes no tensor, whatever the annotation says."""

import torch


class Merger(torch.nn.Module):
    def forward(self, x: torch.Tensor, sizes: torch.Tensor, others: torch.Tensor):
        for h, w in sizes:
            x.view(h, w)  # silent
        for h, w in others:
            x.view(h, w)  # expect: SYN106
        return x


def run(images, others):
    return Merger().forward(images[0], [(image.shape[0], 3) for image in images], others)

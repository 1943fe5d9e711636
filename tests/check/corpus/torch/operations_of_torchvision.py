"""Operations of torchvision in C++ are known, measured or not: they wait, and give indices."""

import torch
import torchvision
import torchvision.transforms.functional as F
from torchvision.ops import batched_nms


def kept(boxes, scores):
    boxes, scores = torch.ones(4, 4, device="cuda"), torch.ones(4, device="cuda")
    keep = torchvision.ops.nms(boxes, scores, 0.5)  # expect: SYN206
    boxes[keep]  # silent
    torch.ops.torchvision.nms(boxes, scores, 0.5)  # expect: SYN206
    keep = batched_nms(boxes, scores, scores, 0.5)  # expect: SYN206
    boxes[keep]  # silent
    torchvision.ops.nms(boxes.cpu(), scores.cpu(), 0.5)  # expect: SYN105, SYN105


def normalized(picture, images: torch.Tensor):
    F.normalize(F.to_tensor(picture), [0.5], [0.5])  # silent
    F.normalize(images.cuda(non_blocking=True), [0.5], [0.5])  # expect: SYN502

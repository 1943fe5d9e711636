"""Fields of settings with the default None or zero are off as long as no code gives them anything else; so are attributes set to them."""

from dataclasses import dataclass, field

import torch
from torch import nn


@dataclass
class TrainerConfig:
    eos_penalty: float | None = None
    top_losses: int | None = field(default=None, metadata={"help": "`top_losses=3` keeps three"})
    smoothing: float = 0.0
    mixes_heads: bool = field(default=False, metadata={"help": "`mixes_heads=True` mixes the heads"})
    margin: float | None = None
    scale: float = 0.0
    width: int = 4
    ratio: float = 0.0
    jitter: float | None = None
    depth: int | None = None
    height: int | None = None
    spread: float = 0.0
    weight: float = 0.0
    rate: float | None = None


@dataclass
class Outputs:
    """Per-step state, and no settings."""

    hidden: torch.Tensor | None = None


class Trainer(nn.Module):
    def __init__(self, args: TrainerConfig, ratio=0.5):
        super().__init__()
        if args.mixes_heads and args.top_losses:
            raise ValueError("`mixes_heads=True` needs 'top_losses=None', and can't have 'smoothing=0.1'")
        self.args = args
        self.penalty_of_ends = getattr(args, "eos_penalty", None)
        self.smoothing = args.smoothing
        self.sum_of_heads = args.mixes_heads
        self.clip = args.top_losses
        self.ratio = ratio

    def forward(self, x: torch.Tensor, outputs: Outputs):
        if self.args.eos_penalty is not None:
            x.sum().item()  # expect: SYN101 (unknown)
        if self.penalty_of_ends is None:
            x.min().item()  # expect: SYN101 (step)
        else:
            x.max().item()  # expect: SYN101 (unknown)
        if self.smoothing > 0 and x.shape[0] > 1:
            x.sum().item()  # expect: SYN101 (unknown)
        if self.smoothing == 0:
            x.sum().item()  # expect: SYN101 (step)
        if self.sum_of_heads:
            x.sum().item()  # expect: SYN101 (unknown)
        if self.args.mixes_heads is not None:
            x.sum().item()  # expect: SYN101 (step)
        if self.clip:
            x.sum().item()  # expect: SYN101 (step)
        if self.args.margin is not None:
            x.sum().item()  # expect: SYN101 (step)
        if self.args.margin:
            x.sum().item()  # expect: SYN101 (step)
        if self.args.eos_penalty:
            x.sum().item()  # expect: SYN101 (unknown)
        if self.args.scale > 0:
            x.sum().item()  # expect: SYN101 (step)
        if self.args.width > 0:
            x.sum().item()  # expect: SYN101 (step)
        if self.ratio > 0:
            x.sum().item()  # expect: SYN101 (step)
        if self.args.jitter is not None:
            x.sum().item()  # expect: SYN101 (step)
        if self.args.depth is not None:
            x.sum().item()  # expect: SYN101 (step)
        if self.args.height is not None:
            x.sum().item()  # expect: SYN101 (step)
        if self.args.spread > 0:
            x.sum().item()  # expect: SYN101 (step)
        if self.args.weight > 0:
            x.sum().item()  # expect: SYN101 (step)
        if self.args.rate is not None:
            x.sum().item()  # expect: SYN101 (step)
        if outputs.hidden is not None:
            x.sum().item()  # expect: SYN101 (step)
        return x


def build(clip, **kwargs):
    config = TrainerConfig(margin=0.1, **kwargs)
    config.scale = clip * 2
    trainer = Trainer(config)
    trainer.clip = clip + 1
    kwargs.update({"jitter": clip})
    config.depth, config.height = 1, 2
    setattr(config, "spread", clip)
    config.weight += 1
    rate = clip * 3
    trainer.load(TrainerConfig(rate=rate))
    return trainer

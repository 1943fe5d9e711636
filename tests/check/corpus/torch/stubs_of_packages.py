"""Stubs say what calls of packages do: where a result lives, what an object holds, and which calls block."""

import einops
import torch
from torch import nn
from torch.distributions import Categorical, Normal
from torch.distributions.beta import Beta
from transformers import AutoTokenizer


class Weighted(Categorical):
    def __init__(self, scores):
        super().__init__(logits=scores.cuda(non_blocking=True))  # expect: SYN502

    def log_prob(self, value):
        return super().log_prob(value.cuda(non_blocking=True))  # expect: SYN502


class Policy(nn.Module):
    def forward(self, x: torch.Tensor):
        normal = Normal(x, x.exp())  # expect: SYN502
        action = normal.sample()  # expect: SYN502
        normal.log_prob(action)  # expect: SYN502
        Beta(x, x).entropy().max().item()  # expect: SYN101, SYN502
        quiet = Categorical(logits=x, validate_args=False)
        quiet.entropy()  # silent
        quiet.logits.max().item()  # expect: SYN101
        return einops.rearrange(x, "a b -> b a").tolist()  # expect: SYN102


def on_host():
    normal = Normal(torch.zeros(2), torch.ones(2))  # silent
    normal.log_prob(normal.sample())  # silent
    normal.loc.max().item()  # silent


def tokens(text):
    batch = AutoTokenizer.from_pretrained("gpt2")(text, return_tensors="pt")
    batch["input_ids"].tolist()  # silent
    moved = batch.to("cuda")  # expect: SYN302
    return moved["input_ids"].tolist()  # expect: SYN102

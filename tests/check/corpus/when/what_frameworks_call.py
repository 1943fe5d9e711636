"""What frameworks call for each batch is a step: runners, builders of metadata, models known by name only."""

import torch
from lightning import LightningModule
from somewhere import LogitsProcessor, Metric, PreTrainedModel


class Runner:
    def prepare_inputs(self):
        torch.cuda.synchronize()  # expect: SYN401 (step)

    def _update_decode_metadata(self):
        torch.cuda.synchronize()  # expect: SYN401 (step)

    def build(self):
        torch.cuda.synchronize()  # expect: SYN401 (unknown)


class FlashAttentionMetadataBuilder:
    def build(self):
        torch.cuda.synchronize()  # expect: SYN401 (step)


class Model(PreTrainedModel):
    def forward(self):
        torch.cuda.synchronize()  # expect: SYN401 (step)

    def prepare_inputs_for_generation(self):
        torch.cuda.synchronize()  # expect: SYN401 (step)


class Wrapped(LightningModule):
    def training_step(self, batch):
        torch.cuda.synchronize()  # expect: SYN401 (step)

    def configure_optimizers(self):
        torch.cuda.synchronize()  # expect: SYN401 (once)


class Bias(LogitsProcessor):
    def __call__(self, ids, scores):
        torch.cuda.synchronize()  # expect: SYN401 (step)


class Curve(Metric):
    def update(self, scores):
        torch.cuda.synchronize()  # expect: SYN401 (step)

    def compute(self):
        torch.cuda.synchronize()  # expect: SYN401 (unknown)


class CurveOfOthers(Metric):
    def compute(self):
        torch.cuda.synchronize()  # expect: SYN401 (unknown)


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        torch.cuda.synchronize()  # expect: SYN401 (step)

    @staticmethod
    def backward(ctx, gradient):
        torch.cuda.synchronize()  # expect: SYN401 (step)


class SlopeAttentionBackend:
    def __init__(self):
        self._build_slopes()

    def _build_slopes(self):
        torch.cuda.synchronize()  # expect: SYN401 (once)

    def build_metadata(self):
        torch.cuda.synchronize()  # expect: SYN401 (step)


def pack(batch):
    return torch.tensor([batch, 2], device="cuda")  # expect: SYN301 (step)
    # reached: forward_step > pack


def forward_step(state, data_iterator, model):  # programs hand it to `pretrain` of Megatron
    return model(pack(next(data_iterator)))


def forward_steps(model):
    return torch.tensor([1, 2], device="cuda")  # expect: SYN301 (unknown)

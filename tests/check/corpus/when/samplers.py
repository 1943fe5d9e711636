"""A function that only runs a model, in a loop of its own, runs once for all of the steps of this loop."""

import torch
from torch import nn


class Noise:
    def __call__(self, i):
        return torch.tensor([i, 2], device="cuda")  # expect: SYN301 (step)
        # reached: Noise.__call__


@torch.no_grad()
def sample_ancestral(model, x, sigmas):
    draw = Noise()
    start = torch.tensor([1, 2], device="cuda")  # expect: SYN301 (unknown)
    for i in range(8):
        x = model(x, start)
        x = x + noise(i) + draw(i)
        if sigmas.cuda().sum() == 0:  # expect: SYN104 (step)
            break
    return x


def noise(i):
    return torch.tensor([i, 2], device="cuda")  # expect: SYN301 (step)
    # reached: noise


class Inversion:
    @torch.no_grad()
    def invert(self, x, timesteps):
        torch.tensor([1, 2], device="cuda")  # expect: SYN301 (unknown)
        for t in self.progress_bar(timesteps):
            x = correct(self.unet(x, t))
        return x


def correct(x):
    return torch.tensor([1, 2], device="cuda")  # expect: SYN301 (step)
    # reached: correct


class Diffusion(nn.Module):
    @torch.inference_mode()
    def interpolate(self, x):
        torch.tensor([1, 2], device="cuda")  # expect: SYN301 (unknown)
        while x is not None:
            x = self.p_sample(x)
        return x

    @torch.inference_mode()
    def p_sample(self, x):
        return torch.tensor([1, 2], device="cuda")  # expect: SYN301 (step)

    @torch.no_grad()
    def forward(self, x):
        for _ in range(3):
            x = self.decoder(x)
        return torch.tensor([1, 2], device="cuda")  # expect: SYN301 (step)

    @torch.no_grad()
    def measure(self, loader):
        total = torch.zeros((), device="cuda")
        for batch in loader:
            total += self.head(batch)
            total.item()  # expect: SYN101 (step)
        return total.item()  # expect: SYN101 (unknown)

    @torch.no_grad()
    def gather(self, parts):
        for part in parts:
            self.layer(part)
        return torch.tensor([1, 2], device="cuda")  # expect: SYN301 (unknown)


class Decoding:
    def __init__(self, inference):
        self.inference = Inference(Diffusion())

    @torch.no_grad()
    def run(self, ids):
        ids = self.loop(ids)
        return self.finish(ids)

    def loop(self, ids):
        done = torch.zeros(4, device="cuda")
        for _ in range(8):
            ids = self.inference.logits(ids)
            if done.all():  # expect: SYN104 (step)
                break
        return done.tolist()  # expect: SYN102 (unknown)

    def finish(self, ids):
        return torch.tensor([1, 2], device="cuda")  # expect: SYN301 (unknown)


class Inference:
    def __init__(self, model: Diffusion):
        self.model = model

    def logits(self, ids):
        torch.tensor([1, 2], device="cuda")  # expect: SYN301 (step)
        return self.model(ids)


class Trainer:
    def training_step(self, x):
        return self.rollout(x)

    @torch.no_grad()
    def rollout(self, x):
        for _ in range(8):
            x = self.model(x)
        return torch.tensor([1, 2], device="cuda")  # expect: SYN301 (step)
        # reached: Trainer.training_step > Trainer.rollout

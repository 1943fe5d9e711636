"""Of what runs many steps for one request the loops are the steps; how often the rest runs cannot be told."""

import torch
from torch import nn


class Generator(nn.Module):
    def forward(self, x: torch.Tensor):
        return x * 2

    @torch.no_grad()
    def generate(self, ids: torch.Tensor, streamer=None):
        start = torch.tensor([1, 2], device=ids.device)  # expect: SYN301 (unknown)
        for name in ("a", "b"):
            torch.tensor([1, 2], device=ids.device)  # expect: SYN301 (unknown)
        streamer.end(start)
        self._prepare(ids)
        self._get_cache(ids)
        self.heal(ids)
        self.score(ids)
        return self._sample(ids)

    @torch.no_grad()
    def heal(self, ids):
        for part in ids:
            part.tolist()  # expect: SYN102 (unknown, inferred)
        return torch.tensor([1, 2], device="cuda")  # expect: SYN301 (unknown)

    @torch.no_grad()
    def score(self, ids):
        return torch.tensor([1, 2], device="cuda")  # expect: SYN301 (step)

    def _prepare(self, ids):
        return torch.tensor([1, 2], device="cuda")  # expect: SYN301 (unknown)

    def _prepare_decoder_input_ids(self, ids):
        return torch.tensor([1, 2], device="cuda")  # expect: SYN301 (unknown)

    def _get_cache(self, ids):
        if self.cache is None:
            self.cache = torch.tensor([1, 2], device="cuda")  # expect: SYN301 (once)
        return self.load_state(ids)

    def load_state(self, ids):
        return torch.tensor([1, 2], device="cuda")  # expect: SYN301 (once)

    def _sample(self, ids):
        done = torch.zeros(4, device="cuda")
        print(done)  # expect: SYN107 (unknown)
        while not done.all():  # expect: SYN104 (step)
            ids = self(ids)
            done = self._stop(ids)
            self.score(ids)
        for _ in range(3):
            ids = self.model(ids)
            print(done)  # expect: SYN107 (step)
        for _ in range(3):
            ids = self.patched_model(ids)
            print(done)  # expect: SYN107 (step)
        for _ in range(3):
            ids = self.load_model(ids)
            print(done)  # expect: SYN107 (unknown)
        return ids

    def _stop(self, ids):
        return torch.tensor([1, 2], device="cuda")  # expect: SYN301 (step)
        # reached: Generator._stop


class Other(nn.Module):
    def generate(self, ids: torch.Tensor):
        return self._prepare(ids)

    def _prepare(self, ids):
        return torch.tensor([1, 2], device="cuda")  # expect: SYN301 (unknown)


def export_generation(model: Other, ids: torch.Tensor):
    model._prepare(ids)
    return torch.tensor([1, 2], device="cuda")  # expect: SYN301 (once)


class Trainer:
    def prediction_step(self, batch: torch.Tensor):
        model = Generator()
        model.generate(batch)
        return torch.tensor([1, 2], device="cuda")  # expect: SYN301 (step)


def evaluate(loader, model: Generator):
    for batch in loader:
        model.generate(batch)
        print(torch.tensor([1, 2], device="cuda"))  # expect: SYN301 (step), SYN107 (step)


def serve(requests, model: Generator, tokenizer):
    for request in requests:
        ids = torch.tensor([1, 2], device="cuda")  # expect: SYN301 (unknown)
        print(tokenizer.decode(model.generate(ids)), ids.tolist())  # expect: SYN102 (unknown)


def reinforce(prompts, model: Generator):
    for prompt in prompts:
        loss = model(model.generate(prompt)).sum()
        loss.backward()
        print(torch.tensor([1, 2], device="cuda"))  # expect: SYN301 (step), SYN107 (step)


class DenoisingPipeline:
    @torch.no_grad()
    def __call__(self, steps, prompt: torch.Tensor):
        start = torch.tensor([1, 2], device=prompt.device)  # expect: SYN301 (unknown)
        self._encode(prompt)
        for t in steps:
            noise = self.denoiser(prompt, torch.tensor([1, 2], device=prompt.device))  # expect: SYN301 (step)
            prompt = self.scheduler.step(noise, t, start)
            self._report(prompt)
        return self.vae.decode(prompt)

    def _encode(self, prompt):
        return torch.tensor([1, 2], device="cuda")  # expect: SYN301 (unknown)

    def _report(self, prompt):
        return torch.tensor([1, 2], device="cuda")  # expect: SYN301 (step)

    @torch.no_grad()
    def generate_mask(self, prompt: torch.Tensor):  # for each request, before the loop
        noise = self.denoiser(prompt)
        return noise + torch.tensor([1, 2], device=prompt.device)  # expect: SYN301 (unknown)

    @torch.no_grad()
    def forward_step(self, prompt: torch.Tensor):
        return torch.tensor([1, 2], device=prompt.device)  # expect: SYN301 (step)


class Filter:
    @torch.no_grad()
    def __call__(self, prompt: torch.Tensor):
        return torch.tensor([1, 2], device=prompt.device)  # expect: SYN301 (step)


class DistributedPipeline:
    @torch.no_grad()
    def __call__(self, prompt: torch.Tensor):
        prompt = self._denoise(prompt)
        return torch.tensor([1, 2], device=prompt.device)  # expect: SYN301 (unknown)

    def _denoise(self, prompt: torch.Tensor):
        for t in range(8):
            torch.tensor([1, 2], device="cuda")  # expect: SYN301 (step)
            prompt = self._scheduler_step(self._backbone_forward(prompt, t))
        return prompt


class ClassifyingPipeline:
    @torch.no_grad()
    def __call__(self, prompt: torch.Tensor):
        return torch.tensor([1, 2], device=prompt.device)  # expect: SYN301 (step)

"""What a decorator makes a step is none where the project calls it, and each call runs once."""

import torch


@torch.no_grad()
def sample_add(params):
    return torch.tensor([1, 2], device="cuda")  # expect: SYN301 (once)


@torch.no_grad()
def sample_all(params):
    return torch.tensor([1, 2], device="cuda")  # expect: SYN301 (step)


@torch.no_grad()
def sample_for_users(params):
    return torch.tensor([1, 2], device="cuda")  # expect: SYN301 (step)


class Strategy:
    def step_post_backward(self, params, step):
        if step % self.every == 0:
            self._add(params)
            sample_all(params)
        return sample_all(params)

    @torch.no_grad()
    def _add(self, params):
        torch.tensor([1, 2], device="cuda")  # expect: SYN301 (once)
        return sample_add(params)


class Decoder:
    @torch.inference_mode()
    def step(self, ids):
        return torch.tensor([1, 2], device="cuda")  # expect: SYN301 (step)

    @torch.inference_mode()
    def sample_first(self, ids):
        return torch.tensor([1, 2], device="cuda")  # expect: SYN301 (once)


def main():
    decoder = Decoder()
    ids = decoder.sample_first([1])
    for _ in range(8):
        ids = decoder.step(ids)

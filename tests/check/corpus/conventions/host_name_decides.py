"""A name that says host decides where paths disagree: what else is done with it is as sure as what the source shows."""

import torch


class Batch:
    lens_cpu: torch.Tensor | None = None

    def fill(self, other: "Batch", fast: bool):
        lens = torch.ones(4) if fast else torch.ones(4, device="cuda")
        self.lens_cpu = lens

    def most(self):
        return self.lens_cpu.max().item()  # silent

    def upload(self):
        return self.lens_cpu.to("cuda")  # expect: SYN302 (inferred)


class Cached:
    _lens_cpu: torch.Tensor | None = None

    def fill(self, fast: bool):
        self._lens_cpu = torch.ones(4) if fast else torch.ones(4, device="cuda")

    @property
    def lens(self):
        if self._lens_cpu is None:
            self._lens_cpu = torch.ones(4)
        return self._lens_cpu


def upload_what_is_cached(cached: Cached):
    return cached.lens.to("cuda")  # expect: SYN302 (inferred)


def lens_of(fast: bool):
    return torch.ones(4) if fast else torch.ones(4, device="cuda")


def lens_of_a_batch(fast: bool):
    return torch.ones(4) if fast else torch.ones(4, device="cuda")


def longest(fast: bool):
    lens_cpu = lens_of(fast)
    return lens_cpu.max().item()  # silent


def longest_of_a_function(fast: bool):
    return lens_of_a_batch(fast).max().item()  # expect: SYN101


def lens_cpu(fast: bool):
    return torch.ones(4) if fast else torch.ones(4, device="cuda")


def longest_of_a_function_of_the_host(fast: bool):
    return lens_cpu(fast).max().item()  # silent

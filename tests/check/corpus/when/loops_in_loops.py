"""The innermost of nested loops that run a model has the steps; the outer loops run over requests."""

import torch


class Controller:
    @torch.inference_mode()
    def generate_all_tokens(self, requests):
        lengths = torch.tensor([1, 2], device="cuda")  # expect: SYN301 (unknown)
        self.pad(lengths)
        while True:
            logits = self.run_one_forward_step(requests)
            if logits.sum() == 0:  # expect: SYN104 (step)
                break
        return lengths

    def pad(self, lengths):
        return torch.tensor([1, 2], device="cuda")  # expect: SYN301 (unknown)

    def run_one_forward_step(self, requests):
        return torch.tensor([1, 2], device="cuda")  # expect: SYN301 (step)


class Engine:
    def __init__(self):
        self.controller = Controller()

    @torch.no_grad()
    def generate(self, batches):
        for batch in batches:
            self.controller.generate_all_tokens(batch)


class Speculation:
    @torch.inference_mode()
    def generate(self, requests):
        while requests:
            self.decode_all(requests)

    def decode_all(self, requests):
        torch.tensor([1, 2], device="cuda")  # expect: SYN301 (step)
        for _ in range(3):
            self.small_model(requests)

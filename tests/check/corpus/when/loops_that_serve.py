"""A loop without an end in sight may be the one that serves, even where a function that runs once starts it."""

import torch


class Agent:
    def start(self):
        self.setup_loop()

    def setup_loop(self):
        self.warm()
        while True:
            self.handle(self.receive())

    def warm(self):
        return torch.zeros(1, device="cuda").item()  # expect: SYN101 (once)

    def receive(self):
        return 1

    def handle(self, request):
        return torch.zeros(1, device="cuda").item()  # expect: SYN101 (unknown)


def load_model(parts):
    for part in parts:
        check(part)


def check(part):
    return torch.zeros(1, device="cuda").item()  # expect: SYN101 (once)

"""A command line runs once, and what its loops call does not; nor what the loops of its helpers call."""

import torch


class Engine:
    def __init__(self, layers):
        self.state = torch.ones(4, device="cuda")
        self.kinds = [self.kind(layer) for layer in layers]
        for layer in layers:
            self.fill(layer)

    def kind(self, layer):
        return self.state.tolist()  # expect: SYN102 (once)

    def fill(self, layer):
        self.first = self.state.tolist()  # expect: SYN102 (once)

    def advance(self):
        return self.collect(self.state + 1)

    def collect(self, t):
        return t.tolist()  # expect: SYN102 (unknown)

    def finish(self):
        return self.state.tolist()  # expect: SYN102 (once)

    def settle(self):
        return self.state.tolist()  # expect: SYN102 (unknown)


def drive(engine):
    for _ in range(10):
        engine.settle()
        engine.state.item()  # expect: SYN101 (unknown)
    engine.state.cpu()  # expect: SYN105 (once)


def main():
    engine = Engine(["a"])
    load_weights(engine)
    for _ in range(10):
        engine.advance()
    drive(engine)
    engine.finish()


def load_weights(engine):
    for _ in range(10):
        read(engine)


def read(engine):
    engine.state.tolist()  # expect: SYN102 (once)


def main_of_a_tool_cli():
    def inside(engine):
        engine.state.tolist()  # expect: SYN102 (unknown)

    while True:
        inside(Engine(["b"]))


main()

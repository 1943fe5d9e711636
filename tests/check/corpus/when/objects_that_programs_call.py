"""A program calls an object by the name of a variable: in its loops, each call may be one request."""

import torch


class Pipe:
    def __init__(self, net):
        self.net = net

    def __call__(self, n):
        x = torch.randn(n, 4, device="cuda")
        for _ in range(3):
            x = self.net(x)
        return [row.cpu() for row in x]  # expect: SYN105 (unknown)


class Made:
    def __call__(self, n):
        return torch.randn(n, 4, device="cuda").tolist()  # expect: SYN102 (unknown)


class Report:
    def __call__(self, n):
        return torch.randn(n, 4, device="cuda").tolist()  # expect: SYN102 (once)


def main():
    pipe = Pipe(torch.nn.Linear(4, 4, device="cuda"))
    for _ in range(3):
        print(len(pipe(2)), Made()(2))
    finish(Report())


def finish(report):
    report(2)


if __name__ == "__main__":
    main()

"""What loads, saves, captures, warms up or prints runs once, wherever it is called."""

import torch


class Runner:
    def __init__(self):
        self.first = torch.ones(1, device="cuda").item()  # expect: SYN101 (once)
        self._made = self._make()

    def _make(self):
        return torch.ones(1, device="cuda").item()  # expect: SYN101 (once)

    def __repr__(self):
        return str(torch.ones(1, device="cuda").item())  # expect: SYN101 (once)

    def load_weights(self):
        return self._copied().item()  # expect: SYN101 (once)

    def _copied(self):
        torch.cuda.synchronize()  # expect: SYN401 (once)
        return torch.ones(1, device="cuda")

    def capture_model(self):
        self.execute_model()
        torch.cuda.synchronize()  # expect: SYN401 (once)

    def init_forward_metadata_capture_cuda_graph(self):
        torch.cuda.synchronize()  # expect: SYN401 (once)

    def extra_repr(self):
        return str(torch.ones(1, device="cuda").item())  # expect: SYN101 (once)

    def train_log(self, step):
        return torch.ones(1, device="cuda").item()  # expect: SYN101 (once)

    def plot_losses(self):
        return torch.ones(1, device="cuda").cpu()  # expect: SYN105 (once)

    def warm_up(self):
        torch.cuda.synchronize()  # expect: SYN401 (once)

    def merge(self):
        self.merged = True

    def unmerge(self):
        torch.cuda.synchronize()  # expect: SYN401 (once)

    def execute_model(self):
        self.warm_up()
        if self.merged:
            self.unmerge()
        return self._sampled().item()  # expect: SYN101 (step)
        # reached: Runner.execute_model

    def _sampled(self):
        torch.cuda.synchronize()  # expect: SYN401 (step)
        # reached: Runner.execute_model > Runner._sampled
        return torch.ones(1, device="cuda")

    def other(self):
        return torch.ones(1, device="cuda").item()  # expect: SYN101 (unknown)


class Attention(torch.nn.Module):
    def unmerge(self, x):  # of tokens
        torch.cuda.synchronize()  # expect: SYN401 (step)
        return x

    def forward(self, x):
        return self.unmerge(x)

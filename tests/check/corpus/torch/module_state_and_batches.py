"""What a module declares as a tensor moves with it, and so are the batches that it is called with on its GPU."""

import torch


class Metric(torch.nn.Module):
    total: torch.Tensor
    host_cpu: torch.Tensor

    def __init__(self):
        super().__init__()
        self.add_state("total", default=torch.tensor(0))

    def update(self, preds: torch.Tensor, targets_list: list, target_cpu: torch.Tensor):
        self.total += preds.sum()
        torch.unique(preds)  # expect: SYN204 (inferred)
        target_cpu.tolist()  # silent

    def reset(self, rows: torch.Tensor):
        rows.tolist()  # expect: SYN102 (inferred)

    def compute(self):
        self.host_cpu.item()  # silent
        return average(self.total)


class Plain:
    total: torch.Tensor

    def update(self, preds: torch.Tensor):
        preds.tolist()  # expect: SYN102 (assumed)
        return self.total.item()  # expect: SYN101 (assumed)


def average(total: torch.Tensor):
    if total > 1:  # expect: SYN104 (inferred)
        return total
    return 0

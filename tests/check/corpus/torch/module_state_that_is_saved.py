"""The state of a module is a table of tensors on its GPU; to save the table copies each of them."""

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)

    def keep(self, path: str):
        torch.save(self.state_dict(), path)  # expect: SYN105 (inferred)


def train(path: str, scheduler, given):
    model = Model().cuda()  # expect: SYN302
    torch.save({"model": model.state_dict(), "step": 3}, path)  # expect: SYN105
    torch.save({"step": 3, "lengths": [1, 2]}, path)  # silent
    torch.save(scheduler.state_dict(), path)  # silent: a scheduler has numbers
    torch.save({"rows": torch.ones(4)}, path)  # silent
    moved = given.to("cuda")
    torch.save(moved.state_dict(), path)  # expect: SYN105
    for weight in model.state_dict().values():
        weight.cpu()  # expect: SYN105

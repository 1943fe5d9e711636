"""Writers of metrics copy each tensor on the GPU to the host in the call."""

import tensorboardX
import torch
import wandb
from torch.utils.tensorboard import SummaryWriter


class Trainer:
    def __init__(self, model, folder):
        self.model = model.cuda()
        self.writer = SummaryWriter(folder)
        self.other = tensorboardX.SummaryWriter(folder)
        self.run = wandb.init()

    def train(self, loader, step):
        for batch in loader:
            loss = torch.zeros((), device="cuda")
            self.writer.add_scalar("loss", loss, step)  # expect: SYN105
            self.writer.add_scalar("loss", 0.5, step)
            self.writer.add_scalar("loss", loss.item(), step)  # expect: SYN101
            self.writer.add_scalars("losses", {"a": loss}, step)  # expect: SYN105
            self.writer.add_scalars("losses", {"a": 0.5}, step)
            self.writer.add_histogram("loss", torch.ones(3, device="cuda"))  # expect: SYN105
            self.writer.add_histogram("loss", torch.ones(3))
            self.writer.add_text("loss", "low")
            self.other.add_scalar("loss", loss, step)  # expect: SYN105
            self.run.log({"loss": loss, "step": step})  # expect: SYN105
            self.run.log({"step": step})
            wandb.log({"loss": loss}, step=step)  # expect: SYN105
            wandb.log({"loss": 0.5}, step=step)

"""A function that computes gradients works where its model is: what it uses as tensors is on the GPU."""

import torch
import torch.nn.functional as F
from agents import Buffer


class Agent:
    def __init__(self, net):
        self.net = net

    def train(self, buffer: Buffer, optimizer):
        for data in buffer.sample():
            loss = F.mse_loss(data.returns, self.net(data.observations))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(loss.item())  # expect: SYN101 (inferred)
            print(data.count.item())  # silent: an array has this method too

    def evaluate(self, buffer: Buffer):
        data = buffer.all()
        loss = F.mse_loss(data.returns, self.net(data.observations))
        return loss.item()  # expect: SYN101 (inferred)

    def train_on_the_host(self, buffer: Buffer):
        data = buffer.all()
        returns = torch.as_tensor(data.returns).cpu()
        loss = F.mse_loss(returns, torch.zeros(3))
        loss.backward()
        return loss.item()  # silent

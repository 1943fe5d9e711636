"""The argument of a framework's `backward` is a loss, and a distribution computes tensors."""

import torch


def scaled(loss_function, net, x, scaler):
    loss = loss_function(net(x))
    scaler.scale(loss).backward()
    return loss.item()  # expect: SYN101


def accelerated(model, batch, accelerator):
    loss = model(batch).loss
    accelerator.backward(loss)
    return loss.item()  # expect: SYN101


def retained(model, batch):
    loss = model(batch)
    loss.backward(retain_graph=True)
    return loss.item()  # expect: SYN101


def of_some(model, batch, weights):
    loss = model(batch)
    loss.backward(inputs=weights)
    return loss.item()  # expect: SYN101


def by_keyword(model, batch, accelerator):
    accelerator.backward(loss=model(batch))
    return accelerator.item()  # silent


class Learner:
    def learn(self, batch, scaler):
        losses = self.model.calculate_loss(batch)
        if isinstance(losses, tuple):
            loss = sum(losses)
        else:
            loss = losses
            self.total = losses.item()  # expect: SYN101
        self.check(loss)
        scaler.scale(loss * 0.5).backward()

    def check(self, loss):
        if torch.isnan(loss):  # expect: SYN104
            raise ValueError

    def improve(self, batch):
        dist = self.policy(batch).dist
        entropy = dist.entropy().mean()
        loss = -dist.log_prob(batch.act).mean() - entropy
        loss.backward()
        return entropy.item()  # expect: SYN101


class Square(torch.autograd.Function):
    @staticmethod
    def backward(ctx, gradient):
        return gradient

    def again(self, ctx, gradient):
        return Square.backward(ctx, gradient)  # silent


def shaped(lengths: int["batch"], keep: bool["batch n"], scale: float):
    longest = lengths.max()
    if longest.cpu() > scale:  # expect: SYN105
        return keep
    return scale > 3

"""Frameworks pass batches on the GPU to the methods that they call, and data on the host to the functions that they are given."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytorch_lightning as pl
import torch
from scipy.optimize import minimize
from torch.utils.data import DataLoader
from transformers import Trainer


class Tuned(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False):
        loss = model(**inputs).loss
        tokens = inputs["attention_mask"].sum().item()  # expect: SYN101
        total = self.accelerator.gather_for_metrics(inputs["mask"].sum()).sum().item()  # expect: SYN101
        self.watch(inputs["labels"])
        return loss / (tokens + total)

    def watch(self, labels):
        return labels[labels != -100]  # expect: SYN201

    def get_labels(self, inputs):
        return inputs["labels"].sum().item()  # silent: no framework calls it


class Net(pl.LightningModule):
    def training_step(self, batch, batch_idx):
        x, lengths = batch
        if batch_idx > 3:  # silent
            return x.sum()
        return x[:, : lengths.max()]  # expect: SYN106

    def test_step(self, batch, batch_idx):
        length = batch["lengths"][0]
        return batch["x"][0, :length]  # expect: SYN106

    def validation_step(self, batch: dict[str, torch.Tensor], batch_idx: int):
        return batch["y"].tolist()  # expect: SYN102


class Pair(NamedTuple):
    x: torch.Tensor
    names: list


@dataclass
class Graph:
    nodes: torch.Tensor


def pair(rows):
    made = Pair(torch.tensor(rows), [])
    made.x.sum().item()  # silent: on the host
    return made, Graph(torch.zeros(3))


class OfPairs(pl.LightningModule):
    def training_step(self, batch: Pair, batch_idx):
        x, names = batch
        names.item()  # silent
        return batch.x.sum().item() + x[x > 3]  # expect: SYN101, SYN201

    def test_step(self, batch: Graph, batch_idx):
        return batch.nodes.tolist()  # expect: SYN102


def collate(rows):
    return torch.tensor(rows).sum().item()  # silent: on the host


def loader(rows):
    return DataLoader(rows, collate_fn=collate)


def cost(x):
    if (x > 3).any():  # silent: an array
        return 0.0
    return float(np.sum(x))


best = minimize(cost, np.zeros(3))

"""Flags of command lines are off where each default is False and no code says True; an attribute may hold them behind an underscore."""

import argparse

import torch
from torch import nn


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pack-rows", action="store_true")
    parser.add_argument("--model.fuse_all", "--fuse-all-of-them", action="store_true", default=False)
    parser.add_argument("--no-cache", action="store_false", dest="cached")
    parser.add_argument("--shared", action="store_true")
    return parser.parse_args()


class Base(nn.Module):
    def __init__(self, args, keeps=False):
        super().__init__()
        self.pack_rows = args.pack_rows
        self._fuse_all = args.fuse_all
        self.cached = args.cached
        self.shared = args.shared
        self.keeps = keeps

    def forward(self, x: torch.Tensor):
        if self.pack_rows:
            x.sum().item()  # expect: SYN101 (unknown)
        if self._fuse_all:
            x.sum().item()  # expect: SYN101 (unknown)
        if self.keeps:
            x.sum().item()  # expect: SYN101 (step)
        if self.shared:
            x.sum().item()  # expect: SYN101 (step)
        if self.cached:
            x.sum().item()  # expect: SYN101 (step)


def build(args):
    return Base(argparse.Namespace(shared=True), True)

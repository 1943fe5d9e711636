"""`torch.get_device_module` is `torch.cuda`: its streams and events wait; so does an event beside another object."""

from __future__ import annotations

from dataclasses import dataclass

import torch


class Done:
    def synchronize(self) -> None:
        pass


@dataclass
class Result:
    copied: torch.cuda.Event | Done | None = None
    done: Done | None = None


class Runner:
    def __init__(self, device):
        self.backend = torch.get_device_module(device)
        self.stream = self.backend.Stream()

    def run(self, result: Result):
        event = self.backend.Event()
        event.record()
        event.synchronize()  # expect: SYN401
        self.stream.synchronize()  # expect: SYN401
        torch.get_device_module().synchronize()  # expect: SYN401
        torch.get_device_module("cpu").synchronize()  # silent
        if result.copied is not None:
            result.copied.synchronize()  # expect: SYN401
        result.done.synchronize()  # silent

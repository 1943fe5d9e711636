"""A name of a device that methods below a class are passed is a device where the parameter is called one."""

import torch


class Backend:
    def state(self, device, kind):
        raise NotImplementedError


class Paged(Backend):
    def state(self, device, kind):
        if kind == "cuda":
            return torch.ones(4, device=device)
        return torch.ones(4, device=device.type)


def use(backend: Backend):
    return backend.state("cuda", "cuda").tolist()  # expect: SYN102

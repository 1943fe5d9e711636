"""A device that a call leaves out puts nothing on the GPU in this call, whatever other calls pass."""

import somewhere
import torch


def plain(x, device=None):
    return torch.tensor(x, device=device)  # expect: SYN301


def spread(x, **kwargs):
    return torch.tensor(x, **kwargs)  # expect: SYN301


def handed_on(x, **kwargs):
    return spread(x, **kwargs)


def placed(x, device="cuda"):
    return torch.zeros(3, device=device) + len(x)


def like(x, device=None):
    return torch.zeros(3, device=device or x.device)


def with_devices(y: torch.Tensor):
    y = y.cuda()
    plain([1, 2], device=y.device).sum().item()  # expect: SYN101
    spread([1, 2], device=y.device).sum().item()  # expect: SYN101
    handed_on([1, 2], device=y.device).sum().item()  # expect: SYN101


def without(y: torch.Tensor, options: dict):
    y = y.cuda()
    plain([1, 2]).sum().item()
    plain([1, 2], None).sum().item()
    spread([1, 2]).sum().item()
    spread([1, 2], dtype=torch.int).sum().item()
    handed_on([1, 2]).sum().item()
    placed([1, 2]).sum().item()  # expect: SYN101
    like(y).sum().item()  # expect: SYN101
    like(torch.zeros(3)).sum().item()


def late(x, **kwargs):
    return torch.tensor(x, **kwargs)  # expect: SYN301


@somewhere.with_keywords(device=None)
def decorated(x, **kwargs):
    return late(x, **kwargs)


def with_the_gpu(function):
    def wrapper(*args, **options):
        options.setdefault("device", "cuda")
        return function(*args, **options)

    return wrapper


@with_the_gpu
def wrapped(x, device=None):
    return torch.tensor(x, device=device)  # expect: SYN301


def on_the_device_of(y: torch.Tensor):  # which nobody calls, so its device is known last
    late([1, 2], device=y.device)
    wrapped([1, 2], device=y.device)
    return decorated([1, 2], device=y.device)


def on_a_device_chosen_later(z):
    return decorated([1, 2], device=z.device)


def on_the_host():
    wrapped([1, 2]).sum().item()  # expect: SYN101
    decorated([1, 2]).sum().item()
    return late([1, 2]).sum().item()

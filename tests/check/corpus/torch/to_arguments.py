"""`to` takes a device, a dtype, a tensor, or several of them."""

import torch


def run(where: torch.device, dtype: torch.dtype, other, n: int):
    host, gpu = torch.ones(n), torch.ones(n, device="cuda")
    host.to(where)  # expect: SYN302 (inferred)
    host.to(device=where, dtype=dtype)  # expect: SYN302 (inferred)
    host.to(dtype)  # silent
    host.to(other)  # silent: a dtype as well as a device
    host.to(other.device)  # expect: SYN302
    host.to(other.dtype)  # silent
    host.to(device=other)  # expect: SYN302
    host.to(gpu.device)  # expect: SYN302
    host.to(gpu.dtype).tolist()  # silent
    host.to(gpu).tolist()  # expect: SYN302, SYN102
    gpu.to(host.device)  # expect: SYN105
    gpu.to(torch.int64).tolist()  # expect: SYN102
    gpu.to(other).tolist()  # expect: SYN102 (proved)
    gpu.to(torch.device("cpu")).tolist()  # expect: SYN105
    host.to("cuda", dtype)  # expect: SYN302
    host.to("cuda", None, True)  # expect: SYN303
    host.to("cuda", non_blocking=False)  # expect: SYN302
    host.to("cuda", non_blocking=other)  # expect: SYN302
    torch.ones(4, pin_memory=True).to("cuda", non_blocking=other)  # silent: the run decides
    host.to(0)  # expect: SYN302
    host.to("mps")  # silent
    host.to(None)  # silent
    return host.cuda(0, True)  # expect: SYN303


def cast(device_dtype: torch.dtype, device_or_dtype):
    torch.ones(4).to(device_dtype)  # silent
    return torch.ones(4).to(device_or_dtype)  # expect: SYN302 (inferred)


class Batches:
    def __init__(self, model):
        self.dtype = model.limit.dtype

    def rows(self, data, rank):
        torch.as_tensor(data).to(rank)  # expect: SYN302 (inferred)
        return torch.as_tensor(data).to(self.dtype).tolist()  # silent


def times(start, end):
    t = torch.tensor([start, end]).to(start)  # silent: that may be a dtype as well
    return bool((t[1:] > t[:-1]).all())  # expect: SYN103 (inferred)

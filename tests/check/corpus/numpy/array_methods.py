"""Arrays are in host memory, whatever is done with them; torch makes tensors of the host of them."""

import numpy as np
import torch


def run(n: int):
    array = np.zeros((n, 4))
    array.sum().item(), array.max(axis=0).tolist(), array.reshape(-1).tolist()  # silent
    gpu = torch.zeros(8, device="cuda")
    gpu[array.astype(np.int64)]  # expect: SYN305
    gpu[array > 0]  # expect: SYN305
    gpu[array.argmax()] = 1  # expect: SYN306
    gpu[array.sum(axis=0)] = 1  # expect: SYN305
    gpu[array.copy()] = 1  # expect: SYN305
    gpu[array.tolist()]  # expect: SYN305
    gpu[array.item()] = 1  # expect: SYN306
    gpu[: array.max()] = 1  # silent: a fill
    torch.from_numpy(array).cuda()  # expect: SYN302
    torch.from_numpy(array).tolist()  # silent
    torch.tensor(array.mean(), device="cuda")  # expect: SYN301
    torch.as_tensor(array, device="cuda")  # expect: SYN301
    return torch.from_numpy(array.T).to("cuda", non_blocking=True)  # expect: SYN303

"""To save or pickle a tensor copies it to the host."""

import copy
import pickle

import torch


def save(path: str, file):
    gpu = torch.ones(4, device="cuda")
    torch.save(gpu, path)  # expect: SYN105
    torch.save([gpu], path)  # expect: SYN105
    torch.save(torch.ones(4), path)  # silent
    pickle.dumps(gpu)  # expect: SYN105
    pickle.dump(gpu, file)  # expect: SYN105
    copy.deepcopy(gpu)  # silent
    torch.load(path, map_location="cuda")  # expect: SYN302
    return torch.load(path)

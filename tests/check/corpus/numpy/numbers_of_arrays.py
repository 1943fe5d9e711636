"""Items of arrays of one dimension are numbers."""

import numpy as np
import torch


def run(array: np.ndarray, n: int):
    gpu = torch.zeros(8, device="cuda")
    for value in array:
        torch.tensor(value, device="cuda")  # expect: SYN301
    number = np.prod([1, 2])
    gpu[number] = 1  # expect: SYN306
    gpu[np.int32(1)] = 1  # expect: SYN306
    flat = np.concatenate([array, array])
    gpu[flat]  # expect: SYN305
    gpu[flat[0]]  # silent
    gpu[array.fill(1)]  # silent
    gpu[array.view()]  # expect: SYN305
    gpu[array.sum()] = 1  # expect: SYN306
    gpu[array.sum(0)] = 1  # expect: SYN305
    gpu[len(array)] = 1  # expect: SYN306
    gpu[array.shape[0]] = 1  # expect: SYN306
    gpu[array.size] = 1  # todo: SYN306
    gpu[array.ndim] = 1  # expect: SYN306
    gpu[array[array > 0]]  # expect: SYN305
    gpu[array + 1]  # expect: SYN305
    gpu[-array]  # expect: SYN305
    gpu[array.T]  # expect: SYN305
    return (torch.from_numpy(array) * 2).tolist()  # silent

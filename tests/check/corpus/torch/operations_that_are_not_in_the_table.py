"""What is not measured works where its operands are, and is not said to wait."""

import torch
import torch.nn.functional as F


def run(n: int):
    gpu = torch.ones(4, device="cuda")
    torch.some_new_operation(gpu).tolist()  # expect: SYN102
    torch.some_new_operation([gpu, gpu]).tolist()  # expect: SYN102
    torch.some_new_operation(torch.ones(4)).tolist()  # silent
    torch.some_new_setting(n).tolist()  # silent
    F.some_new_activation(gpu).tolist()  # expect: SYN102
    torch.linalg.some_new_norm(gpu).item()  # expect: SYN101
    gpu.dequantize().tolist()  # expect: SYN102
    gpu.map2_(gpu, gpu, max).tolist()  # expect: SYN102
    gpu.some_new_method().tolist()  # silent: no tensor has it
    gpu.append(1).tolist()  # silent: no tensor has it
    torch.utils.some_helper(gpu).tolist()  # silent
    torch.softmax(gpu, 0).tolist()  # expect: SYN102
    F.softmax(gpu, 0).tolist()  # expect: SYN102
    gpu.softmax(0).tolist()  # expect: SYN102
    gpu.cumsum_(0).tolist()  # expect: SYN102
    torch.as_tensor(gpu).tolist()  # expect: SYN102
    torch.ops.backend.kernel(gpu).tolist()  # todo: SYN102
    return abs(gpu).tolist()  # expect: SYN102

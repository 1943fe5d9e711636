"""A name that promises the GPU is an assumption."""

import torch
from backend import lease


class Batch:
    def read(self, other):
        rows_gpu = lease()
        rows_gpu.tolist()  # expect: SYN102 (assumed)
        other.lens_gpu.tolist()  # expect: SYN102 (assumed)
        other.lens_cuda.tolist()  # expect: SYN102 (assumed)
        other.gpu_lens.tolist()  # silent: no such convention
        other.lens.tolist()  # silent
        host_gpu = torch.ones(4)
        return host_gpu.tolist()  # silent: the source says otherwise

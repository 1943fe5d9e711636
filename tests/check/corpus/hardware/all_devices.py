"""Every kind of hardware that is not followed."""

import torch
from platforms import _is_cpu, _is_npu, is_cuda_available, is_torch_cuda_available, is_torch_xla_available


def run(kind: str):
    t = torch.ones(4, device="cuda")
    if kind == "ascend" or kind == "gaudi" or kind == "habana" or kind == "hpu" or kind == "maca":
        t.tolist()  # silent
    if kind == "mlu" or kind == "mps" or kind == "musa" or kind == "neuron" or kind == "neuronx":
        t.tolist()  # silent
    if (
        kind == "npu"
        or kind == "openvino"
        or kind == "sdaa"
        or kind == "tpu"
        or kind == "xla"
        or kind == "xpu"
    ):
        t.tolist()  # silent
    if kind == "cuda" or kind == "npu":
        t.tolist()  # expect: SYN102
    if kind == "cpu":
        t.tolist()  # expect: SYN102
    if _is_cpu():
        t.tolist()  # silent
    if _is_npu():
        t.tolist()  # silent
    if is_torch_xla_available():
        t.tolist()  # silent
    if not is_cuda_available():
        t.tolist()  # silent
    if not is_torch_cuda_available():
        t.tolist()  # silent
    if kind in ():
        t.tolist()  # expect: SYN102
    if kind == 3 or kind in (3,):
        t.tolist()  # expect: SYN102
    if kind.startswith("cuda") or kind.startswith(("npu", "xpu")):
        t.tolist()  # expect: SYN102
    if kind.startswith(("npu", "xpu")):
        t.tolist()  # silent
    if "npu" == kind:
        t.tolist()  # false: SYN102
    if 1 < 2 < 3 and kind is not None:
        t.tolist()  # expect: SYN102
    return None

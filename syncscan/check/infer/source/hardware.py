"""Code that only other hardware runs: a branch for NPUs, a file for TPUs, a fallback without a GPU, a graph that is recorded.

Findings apply to CUDA, and to ROCm, whose ``torch.cuda`` synchronizes in the same places. The analysis skips
code for neither of them, and reports nothing there. Nor does it for a program that TorchScript or an export runs in place of Python.
"""

from __future__ import annotations

import ast
import re

from syncscan.check.infer.source.index import Function
from syncscan.check.infer.source.syntax import last_name, path_of

# fmt: off
_OTHERS = frozenset({
    "amx", "ascend", "camb", "cambricon", "dlinfer", "gaudi", "habana", "hpu", "maca", "mlu", "mlx", "mps", "musa", "neuron", "neuronx",
    "npu", "openvino", "sdaa", "tpu", "xla", "xpu",
})
# fmt: on
# Words that mean nothing else; an MPS is also a matrix product state.
_PLAIN = _OTHERS - {"camb", "dlinfer", "maca", "mps", "neuron"}
_GPUS = frozenset({"cuda", "gpu"})
_MOVES = frozenset({"cuda", "gpu", "offload", "offloading", "swap", "transfer"})
_ANY_OTHER = "|".join(sorted(_OTHERS))
_ASKS = re.compile(rf"(.*_)?is_(torch_)?({_ANY_OTHER})(_({_ANY_OTHER}))*(_available)?")
_RECORDS = frozenset({"torch.jit.is_scripting", "torch.jit.is_tracing", "torch.onnx.is_in_onnx_export"})
_ASKS_FOR_A_GPU = re.compile(r"_?is_(cuda_alike|(torch_)?cuda_available)")
# Triton comes with torch for CUDA. A flag of such a name may be an option of the program.
_HAS_TRITON = re.compile(r"_*(has|have|is)_triton(_available)?")


def runs_elsewhere(test: ast.expr, *, holds: bool) -> bool:
    """Return whether a test has the outcome ``holds`` on other hardware only."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return runs_elsewhere(test.operand, holds=not holds)
    if isinstance(test, ast.BoolOp):
        parts = (runs_elsewhere(part, holds=holds) for part in test.values)
        return any(parts) if isinstance(test.op, ast.And) is holds else all(parts)
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        equal, operator = isinstance(test.ops[0], (ast.Eq, ast.In)), test.ops[0]
        other = test.comparators[0]
        is_in_device = isinstance(operator, (ast.In, ast.NotIn)) and "device" in last_name(other)
        return (
            equal is holds
            and isinstance(operator, (ast.Eq, ast.In, ast.NotEq, ast.NotIn))
            and _names_others(test.left if is_in_device else other)
        )
    if isinstance(test, ast.Call):
        return _answers(test, holds=holds)
    return holds and _ASKS.fullmatch(last_name(test)) is not None


def _answers(test: ast.Call, *, holds: bool) -> bool:
    """Return whether a call such as ``is_npu()`` or ``torch.xpu.is_available()`` has this outcome on other hardware only."""
    path = path_of(test.func)
    asked, _, name = path.rpartition(".")
    if path in _RECORDS:
        return holds
    if name == "is_available":
        place = asked.rpartition(".")[2]
        return place in _OTHERS if holds else place == "cuda"
    if name == "startswith":
        return holds and len(test.args) == 1 and _names_others(test.args[0])
    if name in {"is_cpu", "_is_cpu"}:  # of a platform; of a tensor it is no call
        return holds
    if holds:
        return _ASKS.fullmatch(name) is not None
    return _ASKS_FOR_A_GPU.fullmatch(name) is not None or _HAS_TRITON.fullmatch(name) is not None


def _names_others(node: ast.expr) -> bool:
    """Return whether a string, or each of several, names a device of other hardware."""
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return bool(node.elts) and all(map(_names_others, node.elts))
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return False
    return not _OTHERS.isdisjoint(re.split(r"[:_-]", node.value))


_OF_ANOTHER = re.compile(rf".*?_({'|'.join(sorted(_OTHERS | {'cpu'}))})")
_NAMES = "|".join(sorted(name.upper() for name in _OTHERS | {"cpu"}))
_CLASS_OF_ANOTHER = re.compile(rf".*({_NAMES})")
# Parts of a runtime that run a model on the host, without those that move tensors to the host.
_HOST_PART = re.compile(
    r"(?!.*(Adam|Copy|GPU|Gpu|2[DH]|Non|Offload|Pin|Swap|Transfer)).*C(PU|pu)(?![a-z])"
    r".*(Attention|Backend|Builder|Communicator|Experts\w*|Impl|Kernel|Method|Platform|Runner)"
)
_ITS_OWN = re.compile(rf"(?:{_NAMES})([A-Z]\w+)")


def runs_on_other_hardware(function: Function) -> bool:
    """Return whether the name of a function marks it for other hardware.

    Such are ``forward_cpu``, ``get_max_npu_memory``, and the methods of ``WorkerXPU``, ``CPUAttentionImpl``, or of a
    ``CPUWorker`` that is a ``GPUWorker``.
    """
    words = set(function.name.lower().split("_"))
    if not _PLAIN.isdisjoint(words) and _GPUS.isdisjoint(words):
        return True
    if function.name.startswith("forward") and _OF_ANOTHER.fullmatch(function.name):
        return True
    if function.owner is None:
        return False
    own = _ITS_OWN.fullmatch(function.owner.name)
    if own is not None and any(base.name.endswith(own[1]) for base in function.owner.mro()[1:]):
        return True
    return any(each.fullmatch(function.owner.name) for each in (_CLASS_OF_ANOTHER, _HOST_PART))


def is_for_other_hardware(module: str) -> bool:
    """Return whether the name of a module or its folder is that of other hardware, such as ``npu`` or ``xpu_worker``.

    A module ``cpu`` is a CPU backend, unless its name is also about transfers between CPU and GPU.
    """
    words = set(re.split(r"[._]", module.lower()))
    return not _OTHERS.isdisjoint(words) or ("cpu" in module.split(".") and _MOVES.isdisjoint(words))


_ROCM = frozenset({"aiter", "amd", "hip", "rocm"})
_WORDS = re.compile(r"ROCm|[a-z]+|[A-Z]+(?![a-z])|[A-Z][a-z]+")


def is_for_rocm(path: str, function: str) -> bool:
    """Return whether code is for ROCm alone by the name of its file, a folder, its class or its function."""
    return any(word.lower() in _ROCM for word in _WORDS.findall(f"{path} {function}"))

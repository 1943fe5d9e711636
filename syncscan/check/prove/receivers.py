"""Full names as a run has them: those of what C implements, and what an object of Python's own types is."""

from __future__ import annotations

import sys

from syncscan.check.prove.values import ANYWHERE, NUMBER, STRING, TOP, AbstractValue, host_arrays
from syncscan.model import Kind

_NAMES = (
    ("torch._VariableFunctionsClass.", "torch."),
    ("torch._C._VariableFunctionsClass.", "torch."),
    ("torch._C.TensorBase.", "torch.Tensor."),
    ("torch._C._TensorBase.", "torch.Tensor."),
    ("torch._tensor.Tensor.", "torch.Tensor."),
    ("_syncscan_simulate.overridable.TensorBase.", "torch.Tensor."),
    ("torch._C._nn.", "torch.nn.functional."),
    ("torch.functional.", "torch."),
    ("torch.cuda.streams.", "torch.cuda."),
    ("posix.", "os."),
)
# The value of a method's receiver, by the type that defines the method.
RECEIVERS = {
    "torch.Tensor": ANYWHERE,
    "numpy.ndarray": host_arrays(),
    "builtins.bytes": STRING,
    "builtins.str": STRING,
    "builtins.int": NUMBER,
    "builtins.float": NUMBER,
    "builtins.mappingproxy": AbstractValue(Kind.DICT, element=TOP),
    **{f"builtins.{kind.value}": AbstractValue(kind, element=TOP) for kind in (Kind.LIST, Kind.TUPLE, Kind.SET, Kind.DICT)},
}  # fmt: skip

# The functions by which torch calls a module.
CALLS_OF_MODULES = frozenset(
    f"torch.nn.modules.module.Module.{name}" for name in ("__call__", "_call_impl", "_wrapped_call_impl")
)


def of_python(name: str) -> str:
    """Return the name by which a program knows what C implements under another."""
    for inner, outer in _NAMES:
        if name.startswith(inner):
            return outer + name.removeprefix(inner)
    root = name.partition(".")[0]
    return name[1:] if root.startswith("_") and root[1:] in sys.stdlib_module_names else name

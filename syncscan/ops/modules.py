"""Methods of ``torch.nn.Module``, by their effect on the place of a module."""

from __future__ import annotations

# Each returns the module itself, and leaves it where it is.
STAYS = frozenset({"bfloat16", "double", "eval", "float", "half", "requires_grad_", "train"})
MOVES = frozenset({"cpu", "cuda", "to", "to_empty"})
# Each gives the tensors of the module.
TENSORS = frozenset({"buffers", "named_buffers", "named_parameters", "parameters", "state_dict"})
# Each gives parts of the module, or changes their values alone.
READS = TENSORS | {
    "apply",
    "children",
    "load_state_dict",
    "modules",
    "named_children",
    "named_modules",
    "zero_grad",
}

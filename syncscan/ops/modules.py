"""Methods of ``torch.nn.Module``, by their effect on the place of a module."""

from __future__ import annotations

# Each returns the module itself, and leaves it where it is.
STAYS = frozenset({"bfloat16", "double", "eval", "float", "half", "requires_grad_", "train"})
MOVES = frozenset({"cpu", "cuda", "to", "to_empty"})
# Each gives parts of the module, or changes their values alone.
READS = frozenset(
    {"apply", "buffers", "children", "load_state_dict", "modules", "named_buffers", "named_children", "named_modules",
     "named_parameters", "parameters", "state_dict", "zero_grad"}
)  # fmt: skip

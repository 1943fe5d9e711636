"""What to write in place of a read from the GPU, by where it stands."""

from __future__ import annotations

import libcst as cst

from syncscan.rule import Facts

LIST_BEFORE_LOOP = "read what all rounds need with one `.tolist()` before the loop; better, keep the numbers on the host from which it was made"
SUM_BEHIND_LOOP = "add it up on the GPU, and read the sum once, behind the loop"
ROUND_LATER = "copy it into pinned memory with `non_blocking=True`, and read it in a later round, when its event is done"
AT_ONCE = "what is read at once cannot be copied without a wait: take it from what the host already has, or stay on the GPU"
ASSERTED = "`torch._assert_async(condition)` tests it on the GPU; or leave it to a test, or behind a switch for debugging"

# The arguments that torch takes from the GPU where they are tensors, as measured.
_TAKES_TENSOR = frozenset({"torch.Tensor.fill_", "torch.Tensor.clamp", "torch.Tensor.clamp_", "torch.clamp"})


def of_a_number(node: cst.CSTNode, facts: Facts) -> str:
    """For a tensor of one element that becomes a number; "" where nothing better than the general is known."""
    around = facts.parent(node)
    call = facts.parent(around) if isinstance(around, cst.Arg) else None
    if isinstance(call, cst.Call) and facts.name_of(call.func) in _TAKES_TENSOR:
        name = facts.name_of(call.func).rpartition(".")[2]
        more = "; `syncscan recipe show pad_logits_indices` does" if name == "fill_" else ""
        return f"give `{name}` the tensor itself, which it reads on the GPU{more}"
    if facts.raises(node):
        return ASSERTED
    return of_rounds(node, facts) if facts.in_loop(node) else ""


def of_many(node: cst.CSTNode, facts: Facts) -> str:
    """For a tensor that is copied to the host whole."""
    if facts.in_loop(node):
        return of_rounds(node, facts)
    return AT_ONCE if facts.used_at_once(node) else ""


def of_rounds(node: cst.CSTNode, facts: Facts) -> str:
    """For what each round of a loop reads: from a tensor that was there before the loop, or that the round made."""
    if not facts.made_in_loop(node):
        return LIST_BEFORE_LOOP
    return SUM_BEHIND_LOOP if isinstance(facts.statement(node), cst.AugAssign) else ROUND_LATER

"""Hot paths: the functions that run in every step, followed through the calls from its entry points."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from syncscan.check.infer.solver import Solver
from syncscan.check.infer.source.index import Function, Virtual
from syncscan.errors import ConfigError, suggestion

_WITHOUT_GRADIENTS = frozenset(
    f"{owner}{name}"
    for owner in ("torch.", "torch.autograd.", "torch.autograd.grad_mode.", "")
    for name in ("inference_mode", "no_grad")
)

Chains = dict[Function, tuple[str, ...]]


def call_chains(solver: Solver, entry_points: Sequence[str]) -> Chains:
    """For each function that a step runs, the functions through which it is reached, itself last.

    An entry point is "pkg.mod:Class.method"; ConfigError where its module is read and has no
    such function. One in another module reaches nothing. Without any named, the ``forward`` of every
    ``nn.Module`` is one, and so is what runs without gradients. A cached property runs once for each object,
    so a step reaches it only as an entry point.
    """
    functions = solver.functions()
    if entry_points:
        roots = _named(functions, {module.name for module in solver.context.modules}, entry_points)
    else:
        roots = list(filter(_is_entry_point, functions))
    chains: Chains = {root: (root.qualname,) for root in roots}
    queue = deque(roots)
    followed: set[Virtual] = set()
    while queue:
        function = queue.popleft()
        for callee in _callees(solver.known.callees.get(function, ()), followed):
            if callee not in chains and not callee.is_cached_property:
                chains[callee] = (*chains[function], callee.qualname)
                queue.append(callee)
    return chains


def _callees(called: Iterable[Function | Virtual], followed: set[Virtual]) -> Iterator[Function]:
    """The functions that are called, with all methods of those that have not been followed yet."""
    for callee in called:
        if isinstance(callee, Function):
            yield callee
        elif callee not in followed:
            followed.add(callee)
            yield from callee.below


def _named(functions: Sequence[Function], read: set[str], entry_points: Sequence[str]) -> list[Function]:
    by_name = {f"{function.module.name}:{function.qualname}": function for function in functions}
    for name in entry_points:
        if name not in by_name and name.partition(":")[0] in read:
            hint = suggestion(name, by_name, "write it as 'package.module:Class.method'")
            raise ConfigError(f"hot: the project has no function {name!r}; {hint}")
    return [by_name[name] for name in entry_points if name in by_name]


def _is_entry_point(function: Function) -> bool:
    if function.name == "forward" and function.owner is not None:
        return function.owner.is_module
    return bool(function.decorators & _WITHOUT_GRADIENTS) and not function.is_cached_property

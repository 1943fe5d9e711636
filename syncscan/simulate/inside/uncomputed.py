"""Operations with a GPU kernel alone: the simulation returns zeros of the right shape in place of their results.

The shape comes from the operation's "meta" or "fake" kernel, and the written operands from its schema. A
program that decides by such values may behave differently on a GPU.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import torch

from . import bodies
from .errors import SimulationError
from .kinds import is_cuda_device
from .memory import clear, clear_part
from .taint import Written, taint

if TYPE_CHECKING:
    from .conditions import CompiledOperation

# Larger memory, such as a cache, is written in parts. It starts as zeros, so it needs no zeroing.
LARGE_BYTES = 64 << 20
_META = torch.device("meta")


class Uncomputed:
    """The kernels that did not run: counts of their launches, and of host reads of their results."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.decided: Counter[str] = Counter()  # host reads of values that derive from each kernel
        self.read: set[str] = set()  # the kernels whose direct results the host read
        self.refused: set[str] = set()  # the kernels that no interpreter can run

    def note_read(self, kernels: frozenset[str]) -> None:
        """Record that the host reads values derived from kernels that did not run."""
        self.decided.update(kernels)
        if isinstance(kernels, Written):
            self.read |= kernels

    def stand_in(
        self, function: Any, args: Any, kwargs: dict[str, Any], declared: CompiledOperation | None
    ) -> Any:
        """Return zeros in place of the results of an operation, and zero the operands that it writes.

        ``declared`` is the operation's entry in the table, which may give shapes beyond the schema. Raises
        SimulationError where the shape of a result is unknown.
        """
        self.counts[_name(function)] += 1
        written = _written(function._schema, args, kwargs)
        made = self._make(function, args, kwargs, declared, written)
        taint((made, list(written.values())), Written({_name(function)}))
        return made

    @staticmethod
    def _make(
        function: Any,
        args: Any,
        kwargs: dict[str, Any],
        declared: CompiledOperation | None,
        written: dict[str, list[torch.Tensor]],
    ) -> Any:
        returns = function._schema.returns
        for tensors in written.values():
            for tensor in tensors:
                _zero(tensor)
        if not returns:
            return None
        if all(result.alias_info is not None and result.alias_info.is_write for result in returns):
            made = tuple(_aliased(result, written) for result in returns)
        elif declared is not None and declared.result in {"input", "view"}:
            return _as_declared(declared, str(returns[0].type), args, kwargs)
        else:
            made = _as_meta_makes(function, args, kwargs)
            _check_schema(function, made, written)
            _check_declared(function, made, declared, args, kwargs)
            made = tuple(
                value if result.alias_info is None else _aliased(result, written)
                for value, result in zip(made, returns)
            )
        return made[0] if len(made) == 1 else made


def _name(function: Any) -> str:
    name: str = function._schema.name
    return name


def _written(schema: Any, args: Any, kwargs: dict[str, Any]) -> dict[str, list[torch.Tensor]]:
    """Return the operands that an operation writes, by the alias names of its schema."""
    found: dict[str, list[torch.Tensor]] = {}
    for position, argument in enumerate(schema.arguments):
        value = args[position] if position < len(args) else kwargs.get(argument.name)
        if argument.alias_info is not None and argument.alias_info.is_write:
            values = value if isinstance(value, (list, tuple)) else [value]
            tensors = [item for item in values if isinstance(item, torch.Tensor)]
            for name in argument.alias_info.before_set or {argument.name}:
                found[name] = tensors
    return found


def _aliased(result: Any, written: dict[str, list[torch.Tensor]]) -> Any:
    """Return the operand of which a result is an alias."""
    tensors = next((written[name] for name in result.alias_info.before_set if name in written), [])
    return tensors if str(result.type).startswith("List") else next(iter(tensors), None)


def _zero(tensor: torch.Tensor) -> None:
    if tensor.untyped_storage().nbytes() <= LARGE_BYTES:
        with torch.no_grad():
            clear_part(tensor)


def _first_tensor(args: Any) -> torch.Tensor:
    return next(value for value in args if isinstance(value, torch.Tensor))


def _as_declared(declared: CompiledOperation, kind: str, args: Any, kwargs: dict[str, Any]) -> Any:
    """Return the declared number of tensors, in the declared shapes, or in the shape or memory of the first operand."""
    first = _first_tensor(args)
    if declared.result == "view":
        return torch.ops.aten.alias(first)
    shapes = _declared_shapes(declared, args, kwargs)
    made = [torch.empty_like(first) for _ in range(declared.count - len(shapes))]
    made = [*(torch.empty(shape, dtype=first.dtype) for shape in shapes), *made]
    for tensor in made:
        clear(tensor)
    return made if kind.startswith("List") else made[0] if declared.count == 1 else tuple(made)


def _declared_shapes(declared: CompiledOperation, args: Any, kwargs: dict[str, Any]) -> list[list[int]]:
    """Return the shapes of the results; a dimension is a number, or a dimension of an operand such as "v[-1]"."""
    bound = declared.bind(args, kwargs)

    def size(dimension: str) -> int:
        name, _, position = dimension.rstrip("]").partition("[")
        return int(bound[name].shape[int(position)]) if position else int(name)

    return [list(map(size, shape)) for shape in declared.shapes]


def _check_schema(function: Any, made: tuple[Any, ...], written: dict[str, list[torch.Tensor]]) -> None:
    """Raise SimulationError where a fake or meta kernel contradicts the schema of its operation."""
    returns = function._schema.returns
    for value, result in zip(made, returns):
        operand = None if result.alias_info is None else _aliased(result, written)
        if value is None and str(result.type) == "Tensor":
            says = ", ".join(str(each.type) for each in returns)
        elif isinstance(operand, torch.Tensor) and value.shape != operand.shape:
            says = f"that {list(operand.shape)} is an operand"
        else:
            continue
        raise SimulationError(
            f"{_name(function)}: its fake or meta kernel makes {_shown(made)}, and its schema says {says}"
        )


def _check_declared(
    function: Any,
    made: tuple[Any, ...],
    declared: CompiledOperation | None,
    args: Any,
    kwargs: dict[str, Any],
) -> None:
    """Raise SimulationError where a fake or meta kernel contradicts the declared shapes."""
    shapes = _declared_shapes(declared, args, kwargs) if declared is not None else []
    if any(
        isinstance(value, torch.Tensor) and list(value.shape) != shape for value, shape in zip(made, shapes)
    ):
        raise SimulationError(
            f"{_name(function)}: its fake or meta kernel makes {_shown(made)}, and shapes {shapes} are declared"
        )


def _shown(made: tuple[Any, ...]) -> str:
    return ", ".join(str(list(v.shape)) if isinstance(v, torch.Tensor) else type(v).__name__ for v in made)


def _as_meta_makes(function: Any, args: Any, kwargs: dict[str, Any]) -> tuple[Any, ...]:
    body = bodies.find(function)
    try:
        if body is not None and not body.writes:  # no fake or meta kernel knows more than the body
            made = bodies.run(body, function, _to_meta(args), _to_meta(kwargs))
        else:
            made = function(*_to_meta(args), **_to_meta(kwargs))
    except Exception as error:
        missing = isinstance(error, NotImplementedError)
        why = "none that tells" if missing else "its fake or meta kernel fails to tell"
        how = (
            "torch.library.register_fake"
            if missing
            else f"{type(error).__name__}: {str(error).splitlines()[0]}"
        )
        raise SimulationError(
            f"{_name(function)} cannot be simulated: it has a kernel for the GPU and none for the CPU,"
            f" and {why} the shape of its result ({how})"
        ) from error
    return tuple(map(_from_meta, made if isinstance(made, tuple) else (made,)))


def _to_meta(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return torch.empty_strided(value.size(), value.stride(), dtype=value.dtype, device=_META)
    if isinstance(value, (list, tuple)):
        return type(value)(map(_to_meta, value))
    if isinstance(value, dict):
        return {name: _to_meta(item) for name, item in value.items()}
    return _META if isinstance(value, (torch.device, str)) and is_cuda_device(value) else value


def _from_meta(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        made = torch.empty_strided(value.size(), value.stride(), dtype=value.dtype, device="cpu")
        clear(made)
        return made
    return [_from_meta(item) for item in value] if isinstance(value, (list, tuple)) else value

"""The operation table inside the traced program, and its conditions applied to real arguments.

The table arrives as plain data, so that it can cross to a child process as JSON::

    {NAME: {"name": NAME, "args": [...], "result": "...", "count": 1, "interpret": false, "shapes": [["q[0]", ...], ...],
            "cases": [{"effect": "...", "when": [TERM, ...], "unless": [TERM, ...]}]}}

The ``name`` of an alias is that of its operation. A TERM has the fields of ``syncscan.ops.Term``; its kind is the result of ``syncscan.ops.kinds.alternatives``.
`syncscan.simulate.export.plain_table` makes the data.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Container, Iterable, Mapping
from functools import cached_property, lru_cache
from typing import Any

import torch

from .kinds import asks, is_host_index, is_sequence, size_in_bytes, tensors_in, test_of
from .marks import PLAIN_TENSORS, PLAIN_TYPES, cuda_index, set_place, without_functions

Test = Callable[[dict[str, Any]], bool]
PlainTable = Mapping[str, Mapping[str, Any]]

_FAMILY = ("torch", "torch.Tensor", "torch.nn.functional", "torch.special")
# Facts that never hold for a value of a plain type or a tuple of such values, or for one index in a tuple.
_OF_TENSORS = frozenset(
    {
        *("is tensor", "on gpu", "on host", "holds gpu"),
        *("holds mask gpu", "holds mask host", "holds index gpu", "holds index host"),
    }
)
_OF_LISTS = frozenset({"is list", "is list array"})
_OF_COO = frozenset({"coalesced", "hybrid"})
_COPIES = frozenset({"upload", "download"})
# The operands whose aten names differ from those of the table.
_ATEN_ARGS = {"self": "input", "indices": "index", "values": "value"}
# The operations whose aten names differ from their public names.
_ATEN_NAMES = {
    "_local_scalar_dense": "torch.Tensor.item",
    "index": "torch.Tensor.__getitem__",
    "index_put": "torch.Tensor.__setitem__",
    "_index_put_impl": "torch.Tensor.__setitem__",
    "masked_scatter_backward": "torch.masked_select",
    "_unique2": "torch.unique",
    "unique_dim": "torch.unique",
    "_coalesce": "torch.Tensor.coalesce",
    "_sparse_sum": "torch.sparse.sum",
    "_linalg_check_errors": "torch.linalg.inv",
    "_linalg_svd": "torch.linalg.svd",
    "_linalg_eigh": "torch.linalg.eigh",
}


class AnyOf(tuple):  # type: ignore[type-arg]
    """The values of a parameter, any of which may satisfy a condition."""

    __slots__ = ()


class CompiledOperation:
    """One entry of the operation table; compiles its conditions at their first use, since programs use few entries."""

    def __init__(self, name: str, entry: Mapping[str, Any]) -> None:
        self.name = name
        self.args: list[str] = [arg.lstrip("*") for arg in entry["args"]]
        self.star = next((i for i, arg in enumerate(entry["args"]) if arg.startswith("*")), None)
        self.result: str = entry["result"]
        self.count: int = entry["count"]
        self.interpret: bool = entry["interpret"]
        self.shapes: list[list[str]] = entry["shapes"]
        self._cases: list[Any] = entry["cases"]

    @cached_property
    def cases(self) -> list[tuple[str, list[Test], list[Test]]]:
        """The effect of each case, and the tests of its ``when`` and ``unless`` conditions."""
        return [_compile_case(case) for case in self._cases]

    @cached_property
    def _decisive(self) -> tuple[int, int] | None:
        return _decisive_positions(self.args, self._cases)

    @cached_property
    def of_dense(self) -> CompiledOperation:
        """The entry without the cases that only sparse operands satisfy, for the common call without such operands."""
        cases = [case for case in self._cases if not any(map(_needs_sparse, case["when"]))]
        found = copy.copy(self)
        found.__dict__ = {
            name: value for name, value in vars(self).items() if name not in {"cases", "_decisive", "_read"}
        }
        found._cases = cases
        return found

    @property
    def is_of_library(self) -> bool:
        """Return whether the entry describes an operation of a library, which may have no CPU kernel."""
        return self.name.startswith("torch.ops.")

    @property
    def is_query(self) -> bool:
        """Return whether the operation only reads host metadata, as ``size()`` does, and so never blocks or makes a tensor."""
        return self.result in {"number", "none", "string"} and not self._cases

    @property
    def blocks(self) -> bool:
        """True if a call blocks under some conditions."""
        return bool(self._cases)

    def may_block(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
        """Return whether a call may satisfy a case: a cheap test of the types of the decisive arguments.

        The full conditions would cost more than most operations. The result is False for most calls, whose
        decisive arguments are plain numbers or missing.
        """
        if self._decisive is None:
            return bool(self.cases)
        first, last = self._decisive
        if self.star is not None and first <= self.star < last:
            last = len(args)
        for value in args[first:last]:
            if type(value) not in PLAIN_TYPES and not _is_plain(value):
                return True
        return bool(kwargs) and not all(map(_is_plain, kwargs.values()))

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call by the parameter names of the table."""
        if self.star is not None and len(args) > self.star:
            args = (*args[: self.star], AnyOf(_spread(args[self.star :])))
        bound = dict(zip(self.args, args))
        bound.update((_ATEN_ARGS.get(name, name), value) for name, value in kwargs.items())
        return self.with_elements(bound)

    def bind_aten(self, names: list[str], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of an aten call by the parameter names of the table; ``names`` are those of its schema."""
        bound: dict[str, Any] = {}
        for position, (name, value) in enumerate(zip(names, args)):
            known = _ATEN_ARGS.get(name, name)
            if known not in self.args and position < len(self.args):
                known = self.args[position]
            bound[known] = value
        if isinstance(dims := bound.get("dim"), list) and len(dims) == 1:
            bound["dim"] = dims[0]
        bound.update((_ATEN_ARGS.get(name, name), value) for name, value in kwargs.items())
        if isinstance(bound.get("index"), list):
            bound["index"] = tuple(slice(None) if item is None else item for item in bound["index"])
        return self.with_elements(bound)

    def with_elements(self, bound: dict[str, Any]) -> dict[str, Any]:
        """Turn a tuple of indices into an `AnyOf`, so that any one of them may satisfy a condition."""
        if isinstance(bound.get("index"), tuple):
            bound["index"] = AnyOf(bound["index"])
        return bound

    def effect(self, bound: dict[str, Any]) -> str | None:
        """Return how a call with these arguments blocks the CPU, a value of ``syncscan.ops.Effect``; None where it does not."""
        for effect, when, unless in self.cases:
            if all(test(bound) for test in when) and not (unless and all(test(bound) for test in unless)):
                return None if effect in _COPIES and self._moves_nothing(bound) else effect
        return None

    def times(self, effect: str, bound: dict[str, Any]) -> int:
        """Return how often a call with this effect blocks: once for each number read, and each part of an index uploaded.

        A call that reads numbers may block again with these numbers on the host: `torch.tensor` uploads them.
        """
        if effect == "reads a scalar":
            parts = [part for name in self._read for part in _parts_of(name, bound)]
            return (sum(map(_is_gpu_number, tensors_in(parts))) or 1) + self._blocks_with_read(bound)
        if effect == "upload" and "index" in bound:
            index = bound["index"] if type(bound["index"]) is AnyOf else AnyOf((bound["index"],))
            uploaded = sum(map(_is_uploaded, index))
            return uploaded + self._blocks_again(bound, index) if uploaded else 1
        return 1

    def _blocks_with_read(self, bound: dict[str, Any]) -> bool:
        """Return whether the call blocks once more with the numbers that it read, beside those of an index."""
        read = {name: _read_number(value) for name, value in bound.items() if name != "index"}
        return self.effect({**bound, **read}) not in {None, "reads a scalar"}

    def _blocks_again(self, bound: dict[str, Any], index: AnyOf) -> bool:
        """Return whether the call blocks for its index once more, with the uploaded parts on the GPU."""
        then = {**bound, "index": AnyOf(map(_uploaded, index))}
        return any(
            all(test(then) for test in when) and not (unless and all(test(then) for test in unless))
            for (_, when, unless), case in zip(self.cases, self._cases)
            if any(term["arg"] == "index" for term in case["when"])
        )

    @cached_property
    def _read(self) -> set[str]:
        """The parameters whose values on the GPU are read as numbers."""
        cases = [case for case in self._cases if case["effect"] == "reads a scalar"]
        return {term["arg"] for case in cases for term in case["when"] if _needs_tensor(term)}

    def _moves_nothing(self, bound: dict[str, Any]) -> bool:
        """Return whether the copied operand is empty; torch then makes no copy and does not block."""
        moved = bound.get(self.args[0]) if self.args else None
        return size_in_bytes(moved) == 0 or (isinstance(moved, (list, tuple)) and not moved)


class Table:
    """The operation table, compiled."""

    def __init__(self, table: PlainTable) -> None:
        self.operations = {name: CompiledOperation(entry["name"], entry) for name, entry in table.items()}

    def find(self, name: str) -> CompiledOperation | None:
        """Return the entry of a function by its full name, directly or through its plain form, as ``OperationTable.find`` does."""
        found = _entry_of(name, self.operations)
        return self.operations[found] if found is not None else None

    def find_aten(self, name: str) -> CompiledOperation | None:
        """Return the entry of an aten operation such as "index_put_", or None."""
        return self.find(_ATEN_NAMES.get(name.rstrip("_"), f"torch.{name}"))

    def resolved(self, roots: Callable[[str], Any]) -> Iterable[tuple[Any, CompiledOperation]]:
        """Yield each torch function that has an entry in the table, with the entry; ``roots`` resolves full names."""
        for twin, name in _answers(tuple(self.operations)):
            function = roots(twin)
            if function is not None:
                yield function, self.operations[name]


@lru_cache(maxsize=4)
def _answers(names: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the full names of torch functions that the entries cover, each with the name of its entry."""
    known = frozenset(names)
    twins = [twin for name in names if name.startswith("torch.") for twin in _twins(name)]
    return [(twin, found) for twin in twins if (found := _entry_of(twin, known)) is not None]


def _entry_of(name: str, known: Container[str]) -> str | None:
    namespace, _, base = name.rpartition(".")
    if name in known or namespace not in _FAMILY:
        return name if name in known else None
    plain = base if base.startswith("__") else base.rstrip("_")
    candidates = (f"torch.Tensor.{base}", f"torch.{base}", f"torch.Tensor.{plain}", f"torch.{plain}")
    return next((candidate for candidate in candidates if candidate in known), None)


def _twins(name: str) -> list[str]:
    """Return the names that an entry covers: function, method, and in-place form."""
    namespace, _, base = name.rpartition(".")
    if namespace not in _FAMILY or base.startswith("__"):
        return [name]
    return [f"{space}.{form}" for space in _FAMILY for form in (base, f"{base}_")]


def _parts_of(name: str, bound: dict[str, Any]) -> list[Any]:
    value = [*bound.values()] if name == "any" else bound.get(name)
    return [*value] if isinstance(value, (list, tuple)) else [value]


def _is_gpu_number(tensor: torch.Tensor) -> bool:
    return tensor.dim() == 0 and cuda_index(tensor) is not None


def _read_number(value: Any) -> Any:
    """Return a value with the numbers that it holds on the GPU as numbers of the host."""
    if type(value) in {list, tuple}:
        return [_read_number(item) for item in value]
    if type(value) not in PLAIN_TENSORS or not _is_gpu_number(value):
        return value  # another class of tensors may have no memory of its own
    with without_functions(), torch._C._DisableTorchDispatch():
        return value.item()  # which a simulated tensor has in host memory


def _is_uploaded(part: Any) -> bool:
    """Return whether a part of an index is copied to the GPU: positions in host memory, or a sequence."""
    return is_host_index(part) or is_sequence(part)


def _uploaded(part: Any) -> Any:
    """Return what stands for a part of an index on the GPU: torch makes a mask of a sequence of booleans."""
    if not _is_uploaded(part):
        return part
    return _GPU_MASK if is_sequence(part) and _holds_booleans(part) else _GPU_INDEX


def _holds_booleans(sequence: Any) -> bool:
    while isinstance(sequence, (list, tuple)) and sequence:
        sequence = sequence[0]
    return isinstance(sequence, bool) or getattr(getattr(sequence, "dtype", None), "kind", "") == "b"


def _standing_on_gpu(dtype: torch.dtype) -> torch.Tensor:
    tensor = torch.ones(2, dtype=dtype, device="cpu")
    set_place(tensor, 0)
    return tensor


_GPU_MASK, _GPU_INDEX = _standing_on_gpu(torch.bool), _standing_on_gpu(torch.int64)


def _spread(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the values of ``f(*sizes)``, which the program may also call as ``f(sizes)``."""
    return tuple(values[0]) if len(values) == 1 and isinstance(values[0], (list, tuple)) else values


def _decisive_positions(args: list[str], cases: list[Any]) -> tuple[int, int] | None:
    """Return the range of parameters, beside the first operand, of which each case needs a tensor; None without such a range."""
    positions = []
    for case in cases:
        decisive = [t["arg"] for t in case["when"] if _needs_tensor(t) and t["arg"] not in {args[0], "place"}]
        if not decisive:
            return None
        positions += [0, len(args)] if decisive[0] == "any" else [args.index(decisive[0])]
    return (min(positions), max(positions) + 1) if positions else None


def _needs_tensor(term: Mapping[str, Any]) -> bool:
    facts = _OF_TENSORS | _OF_LISTS if term["arg"] == "index" else _OF_TENSORS
    return term["test"] == "is" and not term["negated"] and asks(term["kind"], facts)


def _needs_sparse(term: Mapping[str, Any]) -> bool:
    if term["test"] != "is" or term["negated"]:
        return False
    return all(
        any(
            fact in _OF_COO or (fact.startswith("layout") and (fact == "layout strided") is not holds)
            for fact, holds in one.items()
        )
        for one in term["kind"]
    )


def _is_plain(value: Any) -> bool:
    kind = type(value)
    if kind in PLAIN_TYPES:
        return True
    if kind is slice:
        return {type(value.start), type(value.stop), type(value.step)} <= PLAIN_TYPES
    return kind is tuple and all(map(_is_plain, value))


def _compile_case(case: Mapping[str, Any]) -> tuple[str, list[Test], list[Test]]:
    """Return the effect of a case and the tests of its two conditions, the costly tests last."""
    when = sorted(case["when"], key=lambda term: bool(term["arg"] == "place"))
    return case["effect"], [_compile_term(term) for term in when], [_compile_term(t) for t in case["unless"]]


def _compile_term(term: Mapping[str, Any]) -> Test:
    """Return a test of one term; any of several values may satisfy the term."""
    arg, wanted, satisfies = term["arg"], not term["negated"], _predicate(term)

    def of_one(bound: dict[str, Any]) -> bool:
        value = bound.get(arg)
        if type(value) is AnyOf:
            return any(satisfies(item) for item in value) is wanted
        return satisfies(value) is wanted

    def of_any(bound: dict[str, Any]) -> bool:
        return any(of_value(value) for name, value in bound.items() if name != "out") is wanted

    def of_value(value: Any) -> bool:
        return any(satisfies(item) for item in value) if type(value) is AnyOf else satisfies(value)

    def of_place(bound: dict[str, Any]) -> bool:
        return satisfies(_read_place(bound)) is wanted

    return of_any if arg == "any" else of_place if arg == "place" else of_one


def _predicate(term: Mapping[str, Any]) -> Callable[[Any], bool]:
    if term["test"] == "given":
        return lambda value: value is not None
    if term["test"] == "bytes":
        size = term["size"]
        return lambda value: size_in_bytes(value) > size
    return test_of(term["kind"])


def _read_place(bound: dict[str, Any]) -> Any:
    """Return ``input[index]``, the destination of an assignment; on a GPU more indices are valid here than in a read."""
    index = bound["index"]
    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
        return bound["input"][tuple(index) if isinstance(index, AnyOf) else index]

"""The operation table: what each torch operation does to the host, as measured on a GPU.

The table is ``rules/ops.toml``. This module loads and checks it, and knows nothing about any single
operation. The static analyser and the simulator read the same conditions:

    condition   = term *(" and " term)
    term        = ARG " is " KIND | ARG " is not " KIND | ARG [" not"] " given" | ARG " > " N " bytes"
    ARG         = a parameter named in the entry's ``args``, or "any" for any operand

A KIND is one of `syncscan.kinds.KINDS`. An operation on tensors that is not in the table follows `DEFAULT`.

A starred parameter takes the positional arguments that are left, and the index of a subscript its
elements: a term about several values holds where any of them satisfies it. A size that is not known
satisfies "> N bytes", and a device that is not given is the default device, where the result lives on
"device". In ``torch.Tensor.__setitem__`` the parameter ``place`` is what ``input[index]`` would read.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from importlib.resources import files
from typing import Any, TypeVar

from syncscan.errors import SyncscanError
from syncscan.kinds import KINDS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

RESULTS = frozenset(
    {
        "input",  # with the operands: on the GPU if any is
        "view",  # with the first operand, whose memory it shares
        "device",  # where the device argument says, or on the default device
        "cpu",
        "gpu",
        "pinned",  # in host memory that is pinned
        "pageable",  # in host memory that is not pinned
        "number",
        "string",
        "list",
        "ndarray",
        "none",
        "unknown",
    }
)


DTYPES = frozenset(
    {
        "",  # that of the operands
        "input",  # that of the first operand
        "numbers",  # that of the numbers given: ``arange(3)`` is of integers
        "sum",  # that of the operands, and of integers where they are bools
        "bool",
        "uint8",
        "int",
        "float",
    }
)


class Effect(Enum):
    """How an operation makes the host wait."""

    ALWAYS = "always"
    SHAPE = "shape depends on data"
    SCALAR = "reads a scalar"
    UPLOAD = "upload"
    DOWNLOAD = "download"
    CHECK = "error check"
    WAIT = "explicit wait"


@dataclass(frozen=True, slots=True)
class Term:
    """One term of a condition: about parameter ``arg``, ``test`` is "is", "given" or "bytes"."""

    arg: str
    test: str
    kind: str = ""
    negated: bool = False
    size: int = 0


Condition = tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """Blocks as ``effect`` when every term of ``when`` holds, unless every term of ``unless`` does."""

    effect: Effect
    when: Condition
    unless: Condition = ()


@dataclass(frozen=True, slots=True)
class Form:
    """What the result is where every term of ``when`` holds: fields of `Operation` by their names."""

    when: Condition
    fields: tuple[tuple[str, str | int], ...]


@dataclass(frozen=True, slots=True)
class Operation:
    """One entry of the table.

    ``result`` says where the result lives: one of `RESULTS`, "arg NAME" (as that argument)
    or "a NAME" (no tensor but an object of a class of torch, such as a stream). A
    ``device`` or ``dtype`` argument that is given wins, where the entry has such a parameter.
    ``dtype`` is one of `DTYPES`, or one for each tensor of the result ("input, int"); ``ndim`` is the number of
    dimensions of the result, -1 where it varies. ``count`` is how many tensors the result is: 1, more
    for a tuple, 0 for a tuple whose length varies. Of the ``forms`` the first whose condition holds says in place of
    the entry what the result is. ``reduces`` names the parameter without which the
    result is a single tensor of no dimensions; where that argument is a tensor (``torch.max(a, b)``)
    the operation works by element and gives a single tensor. ``sometimes`` has what was measured to wait
    in some calls and not in others for a reason that no condition can say (a size, a value): it is
    shown, and decides nothing. ``aten`` names the overloads in which the host waited, or, where it never
    did, those of the operation's own name. ``measured`` is false where the entry is declared.
    """

    name: str
    args: tuple[str, ...] = ("input",)
    blocks: tuple[Case, ...] = ()
    result: str = "input"
    dtype: str = ""
    ndim: int = -1
    count: int = 1
    reduces: str = ""
    forms: tuple[Form, ...] = ()
    sometimes: tuple[Case, ...] = ()
    aten: tuple[str, ...] = ()
    measured: bool = True

    def dtypes(self) -> tuple[str, ...]:
        """The dtype of each tensor of the result; of all of them where there is one."""
        return tuple(self.dtype.split(", "))


T = TypeVar("T")


def by_parameter(
    parameters: Sequence[str], args: Sequence[T], kwargs: Mapping[str, T]
) -> tuple[dict[str, tuple[T, ...]], tuple[T, ...]]:
    """The arguments of a call by the parameters of an entry, and those that have no parameter there.

    A starred parameter takes all positional arguments that are left.
    """
    bound: dict[str, tuple[T, ...]] = {}
    left = tuple(args)
    for name in parameters:
        taken = len(left) if name.startswith("*") else 1
        if left:
            bound[name.removeprefix("*")] = left[:taken]
        left = left[taken:]
    bound.update((name, (value,)) for name, value in kwargs.items())
    return bound, left


DEFAULT = Operation("", measured=False)
_TENSOR_MODULES = frozenset({"torch", "torch.nn.functional", "torch.linalg", "torch.special", "torch.fft"})

_TERM = re.compile(r"(\w+) (?:(is not|is) ([a-z0-9 ]+)|(not given|given)|> (\d+) bytes)")


def parse_condition(text: str) -> Condition:
    """Parse "repeats is gpu and output_size given"; ValueError names what is wrong."""
    return tuple(_parse_term(term) for term in text.split(" and ")) if text else ()


def _parse_term(text: str) -> Term:
    found = _TERM.fullmatch(text)
    if found is None:
        raise ValueError(f"not a term of a condition: {text!r}")
    arg, test, kind, given, size = found.groups()
    if given:
        return Term(arg, "given", negated=given == "not given")
    if size:
        return Term(arg, "bytes", size=int(size))
    if kind not in KINDS:
        raise ValueError(f"unknown kind {kind!r} in {text!r}")
    return Term(arg, "is", kind, negated=test == "is not")


@dataclass(frozen=True, slots=True)
class OperationTable:
    """Every measured operation by its public name, and what it was measured on."""

    measured_on: dict[str, str]
    operations: dict[str, Operation]

    def find(self, name: str) -> Operation | None:
        """The entry for a full name such as "torch.Tensor.cumsum_", through its plain form; or None.

        A method answers to the entry of the function of the same name, an in-place form to that of
        the plain one, and ``torch.nn.functional.softmax`` to ``torch.softmax``.
        """
        found = self.operations.get(name)
        if found is not None or not name.startswith("torch."):
            return found
        base = name.rpartition(".")[2]
        plain = base.rstrip("_")
        for candidate in (f"torch.Tensor.{base}", f"torch.{base}", f"torch.Tensor.{plain}", f"torch.{plain}"):
            if candidate != name and self._same_family(name) and candidate in self.operations:
                return self.operations[candidate]
        return None

    @staticmethod
    def _same_family(name: str) -> bool:
        return name.rpartition(".")[0] in {"torch", "torch.Tensor", "torch.nn.functional", "torch.special"}


# What has one of these is a dictionary, a list or a text, whatever else made it look like a tensor.
_NOT_OF_TENSORS = frozenset(
    name for kind in (dict, list, set, str) for name in dir(kind) if not name.startswith("_")
) - {"add", "index", "sort", "split", "values"}


def follows_default(name: str) -> bool:
    """Whether `DEFAULT` stands for an operation of this name where the table has none: it is about tensors."""
    owner, _, base = name.rpartition(".")
    return base not in _NOT_OF_TENSORS if owner == "torch.Tensor" else owner in _TENSOR_MODULES


@functools.cache
def load_table() -> OperationTable:
    """The table that comes with syncscan."""
    return parse_table((files("syncscan.rules") / "ops.toml").read_text(encoding="utf-8"))


def parse_table(text: str) -> OperationTable:
    """Parse and check a table; SyncscanError names the entry and what is wrong with it."""
    raw = tomllib.loads(text)
    measured_on = raw.pop("measured_on", {})
    return OperationTable(measured_on, {name: _checked_operation(name, entry) for name, entry in raw.items()})


def _checked_operation(name: str, entry: dict[str, Any]) -> Operation:
    try:
        return _parse_operation(name, entry)
    except (ValueError, TypeError, KeyError) as error:
        raise SyncscanError(f"ops.toml: [{name}]: {error}") from error


_OF_THE_RESULT = frozenset({"result", "dtype", "ndim", "count", "reduces"})
_OF_AN_ENTRY = _OF_THE_RESULT | {"args", "blocks", "reads", "sometimes", "forms", "aten", "measured"}


def _parse_operation(name: str, entry: dict[str, Any]) -> Operation:
    if unknown := sorted(entry.keys() - _OF_AN_ENTRY):
        raise ValueError(f"unknown key {unknown[0]!r}")
    args = tuple(entry.pop("args", ("input",)))
    blocks = tuple(_parse_case(case) for case in entry.pop("blocks", ()))
    names = {arg.removeprefix("*") for arg in args}
    blocks += tuple(reads_number(arg) for arg in entry.pop("reads", ()))
    sometimes = tuple(_parse_case(case) for case in entry.pop("sometimes", ()))
    forms = tuple(_parse_form(form, names) for form in entry.pop("forms", ()))
    conditions = [condition for case in (*blocks, *sometimes) for condition in (case.when, case.unless)]
    for term in (term for condition in (*conditions, *(form.when for form in forms)) for term in condition):
        if term.arg not in names | {"any"}:
            raise ValueError(f"a condition names {term.arg!r}, which is not in args")
    _check_result(entry, names)
    aten = tuple(entry.pop("aten", ()))
    return Operation(name, args, blocks, forms=forms, sometimes=sometimes, aten=aten, **entry)


def _check_result(entry: Mapping[str, Any], names: set[str]) -> None:
    result = entry.get("result", "input")
    if result not in RESULTS and not result.startswith("a ") and result.removeprefix("arg ") not in names:
        raise ValueError(f"unknown result {result!r}")
    if entry.get("reduces", "") not in names | {""}:
        raise ValueError(f"reduces names {entry['reduces']!r}, which is not in args")
    if bad := [dtype for dtype in entry.get("dtype", "").split(", ") if dtype not in DTYPES]:
        raise ValueError(f"unknown dtype {bad[0]!r}")


def _parse_form(form: dict[str, Any], names: set[str]) -> Form:
    fields = {key: value for key, value in form.items() if key != "when"}
    if unknown := sorted(fields.keys() - _OF_THE_RESULT):
        raise ValueError(f"unknown key {unknown[0]!r} in forms")
    _check_result(fields, names)
    return Form(parse_condition(form["when"]), tuple(fields.items()))


def reads_number(arg: str) -> Case:
    """The case of a parameter that wants a Python number: a tensor on the GPU is read."""
    return Case(Effect.SCALAR, (Term(arg, "is", "gpu"),))


def _parse_case(case: dict[str, str]) -> Case:
    if unknown := sorted(case.keys() - {"as", "when", "unless"}):
        raise ValueError(f"unknown key {unknown[0]!r} in blocks")
    return Case(
        Effect(case["as"]), parse_condition(case.get("when", "")), parse_condition(case.get("unless", ""))
    )

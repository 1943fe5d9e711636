"""The operation table: what each torch operation does to the host, as measured on a GPU.

The table is ``rules/ops.toml``. This module loads and checks it, and knows nothing about any single
operation. The static analyser and the simulator read the same conditions:

    condition   = term *(" and " term)
    term        = ARG " is " KIND | ARG " is not " KIND | ARG [" not"] " given" | ARG " > " N " bytes"
    ARG         = a parameter named in the entry's ``args``, or "any" for any operand

A KIND is one of `syncscan.ops.kinds.KINDS`. An operation on tensors that is not in the table follows `DEFAULT`.

A starred parameter takes the positional arguments that are left, and the index of a subscript its
elements. A term about several values holds if any of them satisfies the term. An unknown size
satisfies "> N bytes". A device that is not given is the default device, if the result lives on
"device". In ``torch.Tensor.__setitem__`` the parameter ``place`` is the value of ``input[index]``.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from importlib.resources import files
from typing import Any

from syncscan.errors import SyncscanError, suggestion
from syncscan.ops.dimensions import VARIES, is_valid
from syncscan.ops.kinds import KINDS

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
        "mapped",  # on the GPU, in the memory of the first operand, which is on the host
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
    """The way in which an operation blocks the CPU."""

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
    """The result where every term of ``when`` holds: fields of `Operation` by their names."""

    when: Condition
    fields: tuple[tuple[str, str | int], ...]


@dataclass(frozen=True, slots=True)
class Operation:
    """One entry of the table.

    ``result``: the device of the result, one of `RESULTS`; or "arg NAME" (as that argument); or "a NAME": an
    object of a class of torch, such as a stream. A given ``device`` or ``dtype`` argument wins.
    ``dtype``: one of `DTYPES`, or one for each tensor of the result ("input, int").
    ``ndim``: the number of dimensions of the result, see `syncscan.ops.dimensions`.
    ``count``: the number of tensors in the result: 1, more for a tuple, 0 for a tuple whose length varies.
    ``forms``: the first whose condition holds describes the result in place of the entry.
    ``reduces``: the parameter without which the result is a single tensor of no dimensions. If that argument
    is a tensor (``torch.max(a, b)``), the operation works by element and gives a single tensor.
    ``sometimes``: blocking calls that no condition separates from others (a size, a value): shown, decides nothing.
    ``aten``: the overloads in which the host blocked; if it never did, those of the operation's own name.
    ``measured``: false for a declared entry.
    ``interpret``: Triton's interpreter runs this kernel in a simulation, because its numbers decide.
    ``shapes``: the dimensions of each tensor that an operation without a kernel for the CPU makes, in those of
    its operands: "q[0], v[-1]".
    ``aliases``: other full names of the operation, as torch's op_db lists them.
    ``is_own``: a project declares the entry in its settings, and knows the device of the result.
    """

    name: str
    args: tuple[str, ...] = ("input",)
    blocks: tuple[Case, ...] = ()
    result: str = "input"
    dtype: str = ""
    ndim: int | str = VARIES
    count: int = 1
    reduces: str = ""
    forms: tuple[Form, ...] = ()
    sometimes: tuple[Case, ...] = ()
    aten: tuple[str, ...] = ()
    measured: bool = True
    interpret: bool = False
    shapes: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    is_own: bool = False

    def dtypes(self) -> tuple[str, ...]:
        """Return the dtype of each tensor of the result; of all of them where there is one."""
        return tuple(self.dtype.split(", "))


DEFAULT = Operation("", measured=False)
_TENSOR_MODULES = frozenset({"torch", "torch.nn.functional", "torch.linalg", "torch.special", "torch.fft"})

_TERM = re.compile(r"(\w+) (?:(is not|is) ([a-z0-9 ]+)|(not given|given)|> (\d+) bytes)")


def parse_condition(text: str) -> Condition:
    """Parse "repeats is gpu and output_size given"; a ValueError names the fault."""
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


_DOTS_OF_AN_OPERATION = "torch.ops.library.name".count(".")


@dataclass(frozen=True, slots=True)
class OperationTable:
    """Every operation by its public name, and what the measured ones were measured on.

    ``own`` names those that the project has declared itself, which go before those of the same name.
    """

    measured_on: dict[str, str]
    operations: dict[str, Operation]
    own: frozenset[str] = frozenset()
    _found: dict[str, Operation | None] = field(default_factory=dict, init=False, repr=False, compare=False)
    _by_alias: dict[str, Operation] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Note the operations by their other names."""
        self._by_alias.update((alias, each) for each in self.operations.values() for alias in each.aliases)

    def with_own(self, entries: Mapping[str, Any]) -> OperationTable:
        """Return the table with what a project declares of its own operations; ValueError names the first bad entry."""
        if not entries:
            return self
        if (short := next((name for name in entries if not _FULL_NAME.fullmatch(name)), None)) is not None:
            raise ValueError(f"{short!r} is no full name; write one in quotes, such as {_EXAMPLE}")
        own = {name: replace(each, is_own=True) for name, each in parse_operations(entries).items()}
        return OperationTable(self.measured_on, {**self.operations, **own}, frozenset(own))

    def find(self, name: str) -> Operation | None:
        """Return the entry for a full name such as "torch.Tensor.cumsum_", through its plain form; or None.

        A method answers to the entry of the function of the same name, and an in-place form to that of
        the plain one. ``torch.nn.functional.softmax`` answers to ``torch.softmax``. An overload such as
        ``torch.ops.my_library.scale.default`` answers to the entry of its operation. Each name is looked up once.
        """
        if name not in self._found:
            self._found[name] = self._find(name)
        return self._found[name]

    def _find(self, name: str) -> Operation | None:
        found = self._named(name)
        if found is not None or not name.startswith("torch."):
            return found
        if name.startswith("torch.ops.") and name.count(".") > _DOTS_OF_AN_OPERATION:
            return self.operations.get(name.rpartition(".")[0])
        base = name.rpartition(".")[2]
        plain = base.rstrip("_")
        for candidate in (f"torch.Tensor.{base}", f"torch.{base}", f"torch.Tensor.{plain}", f"torch.{plain}"):
            if candidate != name and self._same_family(name) and (found := self._named(candidate)):
                return found
        return None

    def _named(self, name: str) -> Operation | None:
        return self.operations.get(name) or self._by_alias.get(name)

    @staticmethod
    def _same_family(name: str) -> bool:
        return name.rpartition(".")[0] in {"torch", "torch.Tensor", "torch.nn.functional", "torch.special"}


def follows_default(name: str) -> bool:
    """Return whether `DEFAULT` stands for an operation of this name where the table has none: it is about tensors."""
    owner, _, base = name.rpartition(".")
    return base in _tensor_names() if owner == "torch.Tensor" else owner in _TENSOR_MODULES


@functools.cache
def _tensor_names() -> frozenset[str]:
    """Return the names of all that tensors have: a value with a method of another name is no tensor."""
    return frozenset((files("syncscan.rules") / "tensor_names.txt").read_text(encoding="utf-8").split())


@functools.cache
def load_table() -> OperationTable:
    """Return the table that comes with syncscan."""
    return parse_table((files("syncscan.rules") / "ops.toml").read_text(encoding="utf-8"))


def parse_table(text: str) -> OperationTable:
    """Parse and check a table; a SyncscanError names the entry and its fault."""
    raw = tomllib.loads(text)
    measured_on = raw.pop("measured_on", {})
    try:
        return OperationTable(measured_on, parse_operations(raw))
    except ValueError as error:
        raise SyncscanError(f"ops.toml: {error}") from error


def parse_operations(entries: Mapping[str, Any]) -> dict[str, Operation]:
    """Return the entries of a table, by their full names. ValueError names the first bad entry and its fault."""
    operations = {}
    for name, entry in entries.items():
        try:
            operations[name] = _parse_operation(name, entry)
        except ValueError as error:
            raise ValueError(f"[{name}]: {error}") from error
    return operations


_FULL_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")
_EXAMPLE = '"torch.ops._C.rms_norm"'


def _parse_operation(name: str, entry: object) -> Operation:
    given = _fields(entry, _OF_AN_ENTRY)
    operation = Operation(name, given.pop("args", ("input",)), given.pop("blocks", ()))
    names = {arg.removeprefix("*") for arg in operation.args}
    reads = tuple(map(reads_number, given.pop("reads", ())))
    operation = replace(operation, blocks=operation.blocks + reads, **given)
    conditions = [
        condition
        for case in (*operation.blocks, *operation.sometimes)
        for condition in (case.when, case.unless)
    ]
    conditions += [form.when for form in operation.forms]
    for term in (term for condition in conditions for term in condition):
        if term.arg not in names | {"any"}:
            raise ValueError(f"a condition names {term.arg!r}, which is not in args")
    for operand in (found[1] for shape in operation.shapes for found in _DIMENSION.finditer(shape)):
        if operand and operand not in names:
            raise ValueError(f"shapes names {operand!r}, which is not in args")
    for said in ({"result": operation.result, "reduces": operation.reduces}, *map(_said, operation.forms)):
        _check_names(said, names)
    return operation


def _said(form: Form) -> dict[str, Any]:
    return dict(form.fields)


def _check_names(said: Mapping[str, Any], names: set[str]) -> None:
    """Raise ValueError where a field of the result names a missing parameter."""
    result = said.get("result", "input")
    if result.startswith("arg ") and result[4:] not in names:
        raise ValueError(f"result names {result[4:]!r}, which is not in args")
    if said.get("reduces", "") not in names | {""}:
        raise ValueError(f"reduces names {said['reduces']!r}, which is not in args")


Parsers = Mapping[str, Callable[[object], Any]]


def _fields(given: object, known: Parsers, place: str = "") -> dict[str, Any]:
    """Return the parsed keys of a table of the file; ValueError names the bad key and the reason."""
    if not isinstance(given, dict):
        raise ValueError(f"must be a table of {', '.join(known)}, not {given!r}")
    found = {}
    for key, value in given.items():
        if key not in known:
            raise ValueError(f"unknown key {key!r}{place}; {suggestion(key, known)}")
        try:
            found[key] = known[key](value)
        except ValueError as error:
            raise ValueError(f"{key}: {error}") from error
    return found


def _is_parameter(word: object) -> bool:
    return isinstance(word, str) and word.removeprefix("*").isidentifier()


def _parameters(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(map(_is_parameter, value)):
        raise ValueError(f"must be a list of the names of parameters, not {value!r}")
    return tuple(value)


def _overloads(value: object) -> tuple[str, ...]:
    return _texts(value, "the names of overloads")


def _full_names(value: object) -> tuple[str, ...]:
    return _texts(value, "full names")


def _texts(value: object, what: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise ValueError(f"must be a list of {what}, not {value!r}")
    return tuple(value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"must be a text, not {value!r}")
    return value


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"must be a whole number, not {value!r}")
    return value


def _dimensions(value: object) -> int | str:
    if not is_valid(value):
        raise ValueError(f'must be a number of dimensions, "operands", "first+1" or "size", not {value!r}')
    return value  # type: ignore[return-value]  # checked above


_DIMENSION = re.compile(r"(\w+)\[(-?\d+)\]|(\d+)")


def _shapes(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(
        isinstance(shape, str) and all(map(_DIMENSION.fullmatch, shape.split(", "))) for shape in value
    ):
        raise ValueError(f'must be a list of shapes such as "q[0], v[-1]", not {value!r}')
    return tuple(value)


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"must be true or false, not {value!r}")
    return value


def _result(value: object) -> str:
    word = _text(value)
    if word not in RESULTS and not re.fullmatch(r"arg \w+|a \S+", word):
        others = '; or "arg NAME" for that argument, "a NAME" for an object of a class of torch'
        raise ValueError(f"unknown result {word!r}; {suggestion(word, sorted(RESULTS))}{others}")
    return word


def _dtype(value: object) -> str:
    for word in _text(value).split(", "):
        if word not in DTYPES:
            raise ValueError(f"unknown dtype {word!r}; {suggestion(word, sorted(DTYPES - {''}))}")
    return str(value)


def _effect(value: object) -> Effect:
    effects = {effect.value: effect for effect in Effect}
    word = _text(value)
    if word not in effects:
        raise ValueError(f"{word!r} is no way to block; {suggestion(word, effects)}")
    return effects[word]


def _condition(value: object) -> Condition:
    return parse_condition(_text(value))


def _cases(value: object) -> tuple[Case, ...]:
    return tuple(_parse_case(case) for case in _tables(value))


def _parse_case(case: object) -> Case:
    given = _fields(case, _OF_A_CASE, " in blocks")
    if "as" not in given:
        raise ValueError(f"has no `as`, which says how the call blocks: {', '.join(e.value for e in Effect)}")
    return Case(given["as"], given.get("when", ()), given.get("unless", ()))


def _forms(value: object) -> tuple[Form, ...]:
    return tuple(_parse_form(form) for form in _tables(value))


def _parse_form(form: object) -> Form:
    given = _fields(form, {"when": _condition, **_OF_THE_RESULT}, " in forms")
    if "when" not in given:
        raise ValueError("has no `when`, which says which calls are of this form")
    return Form(given.pop("when"), tuple(given.items()))


def _tables(value: object) -> list[object]:
    if not isinstance(value, list):
        raise ValueError(f"must be a list of tables, not {value!r}")
    return value


_OF_THE_RESULT: Parsers = {
    "result": _result,
    "dtype": _dtype,
    "ndim": _dimensions,
    "count": _whole,
    "reduces": _text,
}
_OF_A_CASE: Parsers = {"as": _effect, "when": _condition, "unless": _condition}
_OF_AN_ENTRY: Parsers = {
    "args": _parameters,
    "blocks": _cases,
    "reads": _parameters,
    "sometimes": _cases,
    **_OF_THE_RESULT,
    "forms": _forms,
    "aten": _overloads,
    "measured": _flag,
    "interpret": _flag,
    "shapes": _shapes,
    "aliases": _full_names,
}


def reads_number(arg: str) -> Case:
    """Return the case of a parameter that wants a Python number: a tensor on the GPU is read."""
    return Case(Effect.SCALAR, (Term(arg, "is", "gpu"),))

"""The instructions, and the list of them into which a function is lowered."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, auto
from typing import Any, NamedTuple

Slot = int


class Op(IntEnum):
    """The operations of the IR; each comment lists the operand slots in parentheses, and the data after ``;``."""

    CONSTANT = auto()  # ; the value
    PARAMETER = auto()  # (its default, if any); its position
    ENTRY_DEVICE = auto()  # where what names no device is made as the function begins
    READ_NAME = auto()  # ; a name that is not local
    IMPORT = auto()  # ; module and name
    PHI = auto()  # (one slot for each path)
    JOIN = auto()  # (slots): any of them, on one path
    ATTRIBUTE = auto()  # (base); name, region
    SUBSCRIPT = auto()  # (base, index)
    CALL = auto()  # (callee, arguments); CallSite
    CALL_METHOD = auto()  # (base, arguments); CallSite
    CALL_SUPER = auto()  # (arguments); CallSite
    BINARY = auto()  # (left, right); operator
    UNARY = auto()  # (operand); operator
    COMPARE = auto()  # (operands); operators
    TEXT = auto()  # (parts); whether it begins with "cuda"
    SEQUENCE = auto()  # (items); kind, which items are starred
    SET = auto()  # (items)
    DICT = auto()  # (keys and values in turn, a key of -1 before what is spread)
    LIST_OF = auto()  # (element); kind
    DICT_OF = auto()  # (value)
    SLICE = auto()  # (bounds)
    ITERATED = auto()  # (whole)
    UNPACKED = auto()  # (whole); position, number of targets, position of the starred one or None
    STARRED = auto()  # (whole): the list of a starred target; the same
    LAMBDA = auto()  # ; its number among those of the function
    ENTERED = auto()  # (context manager)
    WITH_DEVICE = auto()  # (device before, context manager)
    SET_DEVICE = auto()  # (device before, callee, argument): after a call that may set the default device
    NAMED = auto()  # (value); the name of what is read or bound
    ANNOTATED = auto()  # (value, if any); annotation
    AUGMENTED = auto()  # (old, value); operator
    REBOUND = auto()  # (value); a name that functions inside may have set
    ADDED = auto()  # (container, arguments); method, CallSite
    PUT = auto()  # (container, index, value); the operator of an augmented assignment, or None
    STORED = auto()  # (base, index, value): what is at a path into a base once it is stored there
    AFTER_CALL = auto()  # (argument, what is called): a container that the callee may have filled; place of the argument, method
    RESIZED = auto()  # (tensor)
    CAPTURED_PATTERN = auto()  # (whole); position, count
    NOT_NONE = auto()  # (value)
    TRUE = auto()  # (value)
    TESTED = auto()  # (value, what is called with it); whether the result is true, and no call sets the value
    IS_INSTANCE = auto()  # (value, what is called, classes); names of the classes, whether it holds
    AT_PLACE = auto()  # (value); device
    AT_DEVICE = auto()  # (value, device)
    MAY_BE = auto()  # (parameter); text, whether they are equal: nothing where no caller passes such a text
    GATE = auto()  # (value, gate): nothing where the gate is nothing
    STORE_ATTRIBUTE = auto()  # (base, value); name, path, whether it was there before
    STORE_ITEM = auto()  # (base, index, value, what an augmented assignment reads there)
    DELETE_ITEM = auto()  # (base, index)
    STORE_GLOBAL = auto()  # (value); name
    STORE_CAPTURED = auto()  # (value); name
    STORE_CLASS = auto()  # (value); class, name
    PUBLISH = auto()  # (value); name that functions inside read
    EMPTIED = auto()  # (container): one of its kind without items
    FILL = auto()  # (container): what the function adds to an argument; position of the parameter
    RETURN = auto()  # (value)
    YIELD = auto()  # (value); whether it is spread
    RESULT = auto()  # what callers through classes above are given
    LEFT_OUT = auto()  # (callee): called on other hardware only
    MIRROR = auto()  # (array, its owner); name: advanced with ``+=``

    __hash__ = int.__hash__  # Enum's own hash is slow


# Instructions whose value is the first operand, as a test for None or for truth leaves it.
TESTS_FOR_NONE = frozenset({Op.NOT_NONE, Op.TESTED, Op.TRUE})


class CallSite(NamedTuple):
    """The form of a call.

    The operand slots of its instruction are, in order:

    1. the callee, except for ``super()``,
    2. the value bound to the path of a method, if known; its name, if it is computed,
    3. the arguments,
    4. the default device.
    """

    positional: int
    starred: tuple[int, ...] = ()  # the positions of ``*args`` among the positional ones
    keywords: tuple[str | None, ...] = ()  # None for ``**kwargs``
    attribute: str = ""  # empty if the name of the method is computed
    has_bound: bool = False
    has_device: bool = False
    is_allowed: bool = False  # inside of a region that allows synchronization
    names_device: bool = False  # an argument is a device by its name
    names_dtype: bool = False  # an argument is a dtype by its name
    empty_data: frozenset[int | str] = frozenset()  # the arguments that are written out as ``[]``
    annotation: Any = None  # the first argument as an annotation, for ``typing.cast``
    affixes: tuple[str, str] = ("", "")  # how the computed name that ``getattr`` reads begins and ends

    @property
    def spreads(self) -> bool:
        """True if the call passes ``*args`` or ``**kwargs``."""
        return bool(self.starred) or None in self.keywords


@dataclass(slots=True)
class FunctionIR:
    """The instructions of a function, and the slots whose truth, text or number the function requests."""

    ops: list[int] = field(default_factory=list)
    operands: list[tuple[Slot, ...]] = field(default_factory=list)
    data: list[Any] = field(default_factory=list)
    truths: list[Slot] = field(default_factory=list)
    formats: list[tuple[Slot, Slot]] = field(default_factory=list)  # ``text % value``, ``[0] * n``
    lambdas: list[Any] = field(default_factory=list)
    # Where calls, returns and stores stand: line, column, end line, end column, as `ast` has them.
    places: dict[Slot, tuple[int, int, int, int]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ops)

    def share(self) -> None:
        """Intern equal tuples across functions, to save memory."""
        share = _SHARED.setdefault
        self.operands = [share(each, each) for each in self.operands]
        self.data = [share(each, each) if type(each) is CallSite else each for each in self.data]

    def does_as(self, other: FunctionIR) -> bool:
        """Return whether two lists of instructions are equal, wherever their sources are."""
        return (self.ops, self.operands, self.data) == (other.ops, other.operands, other.data)

    def uses(self) -> list[tuple[Slot, ...]]:
        """Return the instructions that use each slot."""
        found: list[list[int]] = [[] for _ in self.ops]
        for number, slots in enumerate(self.operands):
            for slot in slots:
                if slot >= 0:
                    found[slot].append(number)
        share = _SHARED.setdefault
        return [share(each, each) for each in map(tuple, found)]


_SHARED: dict[Any, Any] = {}

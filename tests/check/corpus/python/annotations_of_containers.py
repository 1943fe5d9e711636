"""Containers of objects of the project, in every way to write them."""

import typing
from collections import OrderedDict, defaultdict, deque
from collections.abc import (
    Awaitable,
    Collection,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
    Sequence,
)
from typing import (
    Annotated,
    ClassVar,
    Dict,
    Final,
    List,
    NotRequired,
    Optional,
    Required,
    Set,
    Tuple,
    TypeGuard,
    Union,
)


class Batch:
    def __init__(self, torch):
        import torch

        self.t = torch.ones(1, device="cuda")


def lists(
    a: list[Batch],
    b: List[Batch],
    c: Sequence[Batch],
    d: Iterable[Batch],
    e: Iterator[Batch],
    f: "list[Batch]",
):
    a[0].t.item(), b[0].t.item(), c[0].t.item(), f[0].t.item()  # expect: SYN101, SYN101, SYN101, SYN101
    for one in d:
        one.t.item()  # expect: SYN101
    next(e).t.item()  # expect: SYN101


def more(
    a: Generator[Batch, None, None], b: Collection[Batch], c: deque[Batch], d: set[Batch], e: Set[Batch]
):
    for one in a:
        one.t.item()  # expect: SYN101
    for one in b:
        one.t.item()  # expect: SYN101
    c.popleft().t.item()  # expect: SYN101
    for one in d:
        one.t.item()  # expect: SYN101
    for one in e:
        one.t.item()  # expect: SYN101


def frozen(
    a: frozenset[Batch],
    b: tuple[Batch, int],
    c: tuple[int, Batch],
    d: tuple[Batch, ...],
    e: Tuple[int, Batch],
):
    for one in a:
        one.t.item()  # expect: SYN101
    b[0].t.item(), c[1].t.item(), d[7].t.item(), e[1].t.item()  # expect: SYN101, SYN101, SYN101, SYN101
    b[1].t.item(), c[0].t.item()  # silent


def tables(a: dict[str, Batch], b: Dict[str, Batch], c: Mapping[str, Batch], d: MutableMapping[str, Batch]):
    a["x"].t.item(), b["x"].t.item()  # expect: SYN101, SYN101
    c["x"].t.item(), d["x"].t.item()  # expect: SYN101, SYN101
    for key, value in a.items():
        key.t.item()  # silent
        value.t.item()  # expect: SYN101


def defaults(a: defaultdict[str, Batch], b: OrderedDict[str, Batch], c: dict[str, list[Batch]]):
    a["x"].t.item(), b["x"].t.item(), c["x"][0].t.item()  # expect: SYN101, SYN101, SYN101


def wrapped(
    a: Optional[Batch], b: Annotated[Batch, 1], c: Final[Batch], d: ClassVar[Batch], e: Awaitable[Batch]
):
    a.t.item()  # expect: SYN101
    b.t.item()  # expect: SYN101
    c.t.item()  # expect: SYN101
    d.t.item()  # expect: SYN101
    e.t.item()  # expect: SYN101


def rest(
    a: Required[Batch], b: NotRequired[Batch], c: TypeGuard[Batch], d: Union[Batch, None], e: None | Batch
):
    a.t.item()  # expect: SYN101
    b.t.item()  # expect: SYN101
    c.t.item()  # expect: SYN101
    d.t.item()  # expect: SYN101
    e.t.item()  # expect: SYN101


def dotted(a: typing.Optional[Batch], b: typing.List[Batch], c: "Batch | None", d: Batch | "Missing", e: 3):  # noqa: F821
    a.t.item(), b[0].t.item(), c.t.item()  # expect: SYN101, SYN101, SYN101
    d.t.item(), e.t.item()  # silent

"""Annotations of all forms say what nobody is seen to pass."""

import typing as t
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Optional, TypeAlias, Union

import numpy as np
import numpy.typing as npt
import torch
from torch import BoolTensor, LongTensor, Tensor


def plain(a: Tensor, b: "torch.Tensor", c: "not python :", d: unknown):  # noqa: F821, F722
    a.tolist(), b.tolist()  # expect: SYN102 (assumed), SYN102 (assumed)
    c.tolist(), d.tolist()  # silent


def wrapped(a: Optional[Tensor], b: Union[Tensor, None], c: Annotated[Tensor, "shape"], d: t.Final[Tensor]):
    a.tolist(), b.tolist()  # expect: SYN102 (assumed), SYN102 (assumed)
    c.tolist(), d.tolist()  # expect: SYN102 (assumed), SYN102 (assumed)


def either(a: Union[Tensor, "Missing"], b: Tensor | int, c: Tensor | unknown):  # noqa: F821
    a.tolist()  # silent: one side is not known
    c.tolist()  # silent
    torch.zeros(4)[b].tolist()  # silent


def containers(
    a: list[Tensor], b: dict[str, Tensor], c: tuple[Tensor, int], d: tuple[Tensor, ...], e: Sequence[Tensor]
):
    a[0].tolist(), b["x"].tolist()  # expect: SYN102 (assumed), SYN102 (assumed)
    c[0].tolist(), d[0].tolist()  # expect: SYN102 (assumed), SYN102 (assumed)
    c[1].bit_length()  # silent
    for one in e:
        one.tolist()  # expect: SYN102 (assumed)


def deeper(
    a: Iterable[tuple[str, Tensor]], b: Mapping[str, list[Tensor]], c: t.List[Tensor], d: t.Dict[str, Tensor]
):
    for name, one in a:
        one.tolist()  # expect: SYN102 (assumed)
    b["x"][0].tolist()  # expect: SYN102 (assumed)
    c[0].tolist(), d["x"].tolist()  # expect: SYN102 (assumed), SYN102 (assumed)


def bare(a: list, b: dict, c: tuple, d: set, e: str, f: slice):
    gpu = torch.zeros(8, device="cuda")
    gpu[a]  # expect: SYN305
    gpu[c]  # silent: a tuple of what is not known
    gpu[f]  # silent
    gpu[b], gpu[d], gpu[e]  # silent: no index of torch


def typed(
    a: LongTensor, b: BoolTensor, c: npt.NDArray, d: np.ndarray, e: torch.cuda.LongTensor, f: torch.ByteTensor
):
    gpu = torch.zeros(8, device="cuda")
    gpu[a]  # silent
    gpu[b]  # expect: SYN201 (inferred)
    gpu[f]  # expect: SYN201 (inferred)
    gpu[c]  # expect: SYN305
    gpu[d]  # expect: SYN305
    return e.tolist()  # expect: SYN102


def objects(stream: torch.cuda.Stream, event: torch.cuda.Event, layer: torch.nn.Linear, where: torch.device):
    stream.synchronize()  # expect: SYN401
    event.synchronize()  # expect: SYN401
    torch.ones(4, device=where).tolist()  # expect: SYN102 (inferred)
    layer(torch.ones(4, device="cuda")).tolist()  # expect: SYN102
    return layer.to("cuda").eval()(torch.ones(4, device="cuda")).tolist()  # expect: SYN102


Rows: TypeAlias = torch.LongTensor
Named: str = "torch.Tensor"


def by_another_name(rows: Rows, text: Named):
    print(text.tolist())  # silent
    return rows.tolist()  # expect: SYN102 (assumed)

"""Names mean what they mean through aliases, re-exports and `partial`; their text does not count."""

from __future__ import annotations

import textwrap

import pytest

from syncscan.model import Confidence, Finding
from tests.texts import check_texts


def findings(text: str, **modules: str) -> list[Finding]:
    return check_texts(textwrap.dedent(text), **{n: textwrap.dedent(t) for n, t in modules.items()}).findings


RECORD = """
    import torch
    {imports}

    {decorator}
    class Batch{base}:
        lens: object

    def total(batch):
        return batch.lens.item()

    total(Batch(torch.zeros(3, device="cuda")))
"""
RECORDS = {
    "as it is": ("import dataclasses", "@dataclasses.dataclass", ""),
    "a module by another name": ("import dataclasses as dc", "@dc.dataclass", ""),
    "a function by another name": ("from dataclasses import dataclass as record", "@record(frozen=True)", ""),
    "an alias": ("import dataclasses\nrecord = dataclasses.dataclass", "@record", ""),
    "partial": (
        "import dataclasses as dc\nimport functools as ft",
        "@ft.partial(dc.dataclass, frozen=True)",
        "",
    ),
    "an alias of partial": (
        "from dataclasses import dataclass\nfrom functools import partial\nrecord = partial(dataclass, eq=False)",
        "@record",
        "",
    ),
    "re-exported": ("from b import record", "@record", ""),
    "a named tuple": ("import typing as t", "", "(t.NamedTuple)"),
    "a named tuple by another name": ("from typing import NamedTuple as Row", "", "(Row)"),
}


@pytest.mark.parametrize("form", RECORDS.values(), ids=RECORDS.keys())
def test_the_fields_of_a_record_are_known_however_it_is_made_one(form: tuple[str, str, str]) -> None:
    imports, decorator, base = form
    text = RECORD.format(imports=imports.replace("\n", "\n    "), decorator=decorator, base=base)
    found = findings(text, b="from dataclasses import dataclass as record\n")
    assert [(finding.code, finding.confidence) for finding in found] == [("SYN101", Confidence.INFERRED)]


HOT = {
    "a module by another name": ("import torch as th", "@th.no_grad()"),
    "a function by another name": ("from torch import inference_mode as fast", "@fast()"),
    "an alias": ("import torch\nfast = torch.inference_mode", "@fast()"),
    "an alias with arguments": ("import torch\nfast = torch.inference_mode(True)", "@fast"),
    "re-exported": ("from b import without", "@without()"),
    "where it is defined": ("from torch.autograd.grad_mode import no_grad", "@no_grad()"),
}


@pytest.mark.parametrize(("imports", "decorator"), HOT.values(), ids=HOT.keys())
def test_what_runs_without_gradients_is_hot_however_that_is_written(imports: str, decorator: str) -> None:
    text = f"import torch\n{imports}\n\n{decorator}\ndef sample():\n    return torch.zeros(3, device='cuda').item()\n"
    assert [finding.hot for finding in findings(text, b="from torch import no_grad as without\n")] == [True]


def test_a_decorator_of_another_package_that_is_called_the_same_is_another_one() -> None:
    text = "import paddle\nimport torch\n\n@paddle.no_grad()\ndef f():\n    return torch.zeros(3, device='cuda').item()\n"
    assert [finding.hot for finding in findings(text)] == [False]


def test_properties_and_methods_of_classes_are_known_by_another_name() -> None:
    text = """
        import torch
        from functools import cached_property as once

        class Batch:
            @once
            def lens(self):
                return torch.zeros(3, device="cuda")

        def f(batch: Batch):
            return batch.lens.item()
    """
    assert [finding.line for finding in findings(text)] == [11]


def test_isinstance_knows_types_by_another_name() -> None:
    text = """
        import numpy as n
        import torch as th
        from numpy import ndarray as Array

        def f(x):
            if isinstance(x, (n.ndarray, Array)):
                return th.tensor(x, device="cuda")
            if isinstance(x, th.Tensor):
                return x.cuda().item()

        def g(x: th.Tensor):
            return 0 if isinstance(x, Array) else x.cuda().item()
    """
    assert [(finding.line, finding.code) for finding in findings(text)] == [
        (8, "SYN301"),
        (10, "SYN101"),
        (13, "SYN101"),
    ]


def test_annotations_are_read_by_another_name() -> None:
    text = """
        import torch
        from typing import Optional as Maybe, Sequence as Several

        class Batch:
            def __init__(self):
                self.lens = torch.zeros(3, device="cuda")

        def f(batch: Maybe[Batch], more: Several[Batch]):
            for one in more:
                one.lens.item()
            return batch.lens.item()
    """
    assert [finding.line for finding in findings(text)] == [11, 12]


def test_what_ends_the_program_is_known_by_another_name() -> None:
    text = """
        import torch
        from sys import exit as stop

        def f(n):
            x = torch.zeros(3, device="cuda")
            if n:
                x = torch.zeros(3)
            else:
                stop(1)
            return x.item()
    """
    assert findings(text) == []


def test_what_swallows_an_exception_is_known_by_another_name() -> None:
    text = """
        import torch
        from contextlib import suppress as despite

        def f(x):
            with despite(ValueError):
                raise ValueError
            return torch.zeros(3, device="cuda").item()
    """
    assert [finding.line for finding in findings(text)] == [8]


def test_a_name_that_is_set_twice_is_no_alias() -> None:
    text = """
        import torch
        mode = torch.no_grad
        mode = print

        @mode()
        def f():
            return torch.zeros(3, device="cuda").item()
    """
    assert [finding.hot for finding in findings(text)] == [False]

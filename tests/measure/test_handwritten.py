"""The operands of the lines in ``cases.toml``."""

from __future__ import annotations

import json

import torch

from syncscan.measure.describe import describe
from syncscan.measure.handwritten import probe, sheets
from syncscan.measure.operands import Operands
from syncscan.simulate.context import simulated_cuda


def test_a_store_through_an_index_that_torch_does_not_read_through_is_measured_without_the_replaced_value() -> (
    None
):
    sheet = sheets()["torch.Tensor.__setitem__"]
    with simulated_cuda():
        stored = probe(sheet, "cpu_x[index] = 0.0", Operands("cuda"))
        read = probe(sheet, "cpu_x[cpu_index] = 0.0", Operands("cuda"))
        assert list(stored.operands) == ["input", "index", "value"]
        assert list(read.operands) == ["input", "index", "value", "place"]
        stored.call()


def test_a_nested_tensor_is_described_by_the_values_that_it_holds() -> None:
    nested = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)], layout=torch.jagged)
    assert json.loads(json.dumps(describe(nested))) == describe(torch.ones(6, 3))

"""A tensor as index blocks nobody if it holds positions on the GPU, and the program may say so."""

from __future__ import annotations

import pytest

from tests.check.prove.proving import proved

POSITIONS = {
    "asserted": "assert ids.is_cuda and ids.ndim == 1 and ids.dtype == torch.int64",
    "tested": "if ids.dim() != 2 or ids.dtype is not torch.int32 or not ids.is_cuda: raise ValueError",
}
OTHERS = {
    "nothing-known": "assert ids.is_cuda",
    "another-dtype": "assert ids.is_cuda and ids.ndim == 1 and ids.dtype != torch.int64",
    "bytes": "assert ids.is_cuda and ids.ndim == 1 and ids.dtype == torch.uint8",
    "one-of-two": "assert ids.is_cuda and ids.ndim == 1 and (ids.dtype == torch.int64 or ids.dtype == torch.bool)",
    "no-dimensions": "assert ids.is_cuda and ids.ndim == 0 and ids.dtype == torch.int64",
    "of-numpy": "assert ids.is_cuda and ids.ndim == 1 and ids.dtype == numpy.int64",
    "a-variable": "assert ids.is_cuda and ids.ndim == 1 and ids.dtype == torch.kept",
    "on-the-host": "assert ids.is_cpu and ids.ndim == 1 and ids.dtype == torch.int64",
}


def program(said: str) -> str:
    return f"""
        import numpy
        def step(ids: torch.Tensor) -> torch.Tensor:
            {said}
            return torch.zeros(8, device="cuda")[ids]
    """


@pytest.mark.parametrize("said", POSITIONS.values(), ids=POSITIONS.keys())
def test_an_index_of_positions_is_proved(said: str) -> None:
    assert proved(program(said)).is_proved


@pytest.mark.parametrize("said", OTHERS.values(), ids=OTHERS.keys())
def test_another_index_is_not(said: str) -> None:
    assert not proved(program(said)).is_proved


CHANGED = {
    "squeezed": "ids.squeeze_()",
    "other-data": "ids.data = ids >= 0",
    "by-an-alias": "view = ids; view.resize_(())",
    "set-by-name": "setattr(ids, 'data', ids > 0)",
}


@pytest.mark.parametrize("changed", CHANGED.values(), ids=CHANGED.keys())
def test_a_tensor_that_may_change_in_place_keeps_no_form(changed: str) -> None:
    assert not proved(program(f"{POSITIONS['asserted']}; {changed}")).is_proved


def test_a_dtype_by_a_name_of_the_function_is_none_of_torch() -> None:
    text = f"""
        from torch import long
        def step(ids: torch.Tensor, long: torch.dtype) -> torch.Tensor:
            {POSITIONS["asserted"].replace("torch.int64", "long")}
            return torch.zeros(8, device="cuda")[ids]
    """
    assert not proved(text).is_proved


def test_the_fact_is_named_where_the_index_is_at_fault() -> None:
    facts = {each.fact for each in proved(program("pass")).obstacles}
    assert facts == {f"`{POSITIONS['asserted']}`, if it holds positions"}
    stores = """
        def step(table: torch.Tensor, i: int, x: torch.Tensor) -> None:
            assert table.is_cuda
            table[i] = x
    """
    assert not any("ndim" in each.fact for each in proved(stores).obstacles)

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

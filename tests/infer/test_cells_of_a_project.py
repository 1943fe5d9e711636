"""The cells of a project are all listed, whatever sort they are of."""

from __future__ import annotations

import pytest

from syncscan.check.infer.dataflow.cells import Cells, Knowledge
from tests.compiled import IS_COMPILED


@pytest.mark.skipif(IS_COMPILED, reason="an object of a compiled class does not list its attributes")
def test_every_sort_of_cells_is_listed() -> None:
    """A sort that is not listed would be forgotten by an incremental run."""
    knowledge = Knowledge()
    assert knowledge.cells() == [each for each in vars(knowledge).values() if isinstance(each, Cells)]

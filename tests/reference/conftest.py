from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from tests.reference.pairs import process_group


@pytest.fixture(scope="module")
def cpu_group() -> Iterator[None]:
    with process_group(torch.device("cpu")):
        yield

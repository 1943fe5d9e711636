from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from hypothesis import settings

from tests.reference.pairs import process_group

settings.register_profile("syncscan", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("syncscan")


@pytest.fixture(scope="module")
def cpu_group() -> Iterator[None]:
    with process_group(torch.device("cpu")):
        yield

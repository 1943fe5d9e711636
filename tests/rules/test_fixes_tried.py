"""Every fix is tried: on operands of every kind, the statement and its fixed form come to the same, and the fixed form does not block.

What is drawn is wider than what gets a fix. A fix that raises, or gives something else, where the statement did not,
fails here, and is then withdrawn or narrowed in its rule. `python -m benchmarks.fixes` prints how many cases of each
kind were tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.rules.tried.suggested import SHOWN, suggested
from tests.rules.tried.templates import TEMPLATES, Case
from tests.rules.tried.trial import Fixed, fixed, in_host_memory, on_a_gpu, on_the_host, simulated

GPU = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a real NVIDIA GPU")]
WORLDS = [on_the_host, simulated, pytest.param(on_a_gpu, marks=GPU)]


@pytest.mark.parametrize("world", WORLDS, ids=["host", "simulated", "gpu"])
@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
@settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_fix_changes_nothing_but_the_wait(
    world: Callable[[list[Fixed]], Iterator[tuple[Fixed, str]]],
    template: st.SearchStrategy[Case],
    data: st.DataObject,
) -> None:
    cases = data.draw(st.lists(template, min_size=15, max_size=25))
    assert [told for _, told in world(fixed(cases)) if told] == []


@pytest.mark.parametrize("world", [in_host_memory, *WORLDS[1:]], ids=["host", "simulated", "gpu"])
@pytest.mark.parametrize("row", SHOWN)
@settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_the_code_of_a_suggestion_changes_nothing_but_the_wait(
    world: Callable[[list[Fixed]], Iterator[tuple[Fixed, str]]], row: str, data: st.DataObject
) -> None:
    cases = data.draw(st.lists(SHOWN[row].cases, min_size=6, max_size=12))
    pairs = suggested(row, SHOWN[row], cases)
    assert pairs, f"no finding shows the code of {row}"
    assert [told for _, told in world(pairs) if told] == []

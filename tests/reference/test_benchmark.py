from __future__ import annotations

from benchmarks.reference import AFTER_LAYERS, BEFORE_LAYERS, IN_EACH_LAYER
from tests.reference.pairs import PAIRS


def test_the_decode_loop_calls_every_component() -> None:
    assert sorted([*BEFORE_LAYERS, *IN_EACH_LAYER, *AFTER_LAYERS]) == sorted(pair.name for pair in PAIRS)

"""After edits the engine says what it says of the project as it is then, evidence included."""

from __future__ import annotations

import functools
import random

import pytest

from syncscan.check.engine import Engine
from syncscan.model import Conventions
from tests.check.changing import asked, changed, project

_engine = functools.partial(Engine, Conventions())


@pytest.mark.parametrize("seed", range(4))
def test_edits_are_followed_as_if_all_were_read_anew(seed: int) -> None:
    rng = random.Random(seed)
    sources, engine = project(), _engine()
    first, _ = asked(engine, sources)
    assert len(first.findings) > 4
    followed = 0
    for _ in range(12):
        changed(rng, sources)
        result, stages = asked(engine, sources)
        expected, _ = asked(_engine(), sources)
        assert result.findings == expected.findings
        followed += not stages["read"]
    assert followed > 6

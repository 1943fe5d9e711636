"""Engines that stay in memory, for projects that are asked about again and again."""

from __future__ import annotations

import gc
import json
from collections.abc import Sequence

from syncscan.check.engine import Engine
from syncscan.check.files import Source
from syncscan.config import Config
from syncscan.facts import FactSet

_MOST = 2  # such as a project with its tests, and without


class Resident:
    """The engines that were asked last, each for one set of files and settings."""

    def __init__(self) -> None:
        self._engines: dict[tuple[object, ...], Engine] = {}

    def engine(self, sources: Sequence[Source], config: Config, facts: FactSet | None) -> Engine:
        """The engine for a project."""
        key = (
            config.conventions,
            config.hot,
            json.dumps(config.operations, sort_keys=True, default=str),
            facts.text() if facts else "",
            frozenset(source.shown for source in sources),
        )
        engine = self._engines.pop(key, None)
        if engine is None:
            if len(self._engines) == _MOST:
                del self._engines[next(iter(self._engines))]
            gc.collect()  # a project is one big graph, and the next one takes as much
            engine = Engine(config.conventions, config.hot, config.table(), facts)
        self._engines[key] = engine
        return engine

"""Engines that stay in memory, for projects that are asked about again and again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from syncscan.check.engine import Engine
from syncscan.check.files import Source
from syncscan.config import Config
from syncscan.facts import FactSet
from syncscan.system.memory import free_all

_MOST = 2  # such as a project with its tests, and without
_FEW = 64  # files that may appear and vanish; more usually mean another project


@dataclass(slots=True)
class _Known:
    engine: Engine
    settings: tuple[object, ...]
    files: frozenset[str]


class Resident:
    """The engines that were asked last, each for the files and settings of one project."""

    def __init__(self) -> None:
        self._known: list[_Known] = []  # the most recently used is last

    def engine(self, sources: Sequence[Source], config: Config, facts: FactSet | None) -> Engine:
        """Return the engine for a project, in which files may have come and gone."""
        settings = (
            config.conventions,
            config.hot,
            config.sync_free,
            json.dumps(config.operations, sort_keys=True, default=str),
            facts.text() if facts else "",
        )
        files = frozenset(source.shown for source in sources)
        fitting = [
            each for each in self._known if each.settings == settings and len(each.files ^ files) <= _FEW
        ]
        known = min(fitting, key=lambda each: len(each.files ^ files), default=None)
        if known is not None:
            self._known.remove(known)
        else:
            if len(self._known) >= _MOST:
                del self._known[: len(self._known) - _MOST + 1]
                free_all()  # a project is one big graph, and the next project takes as much memory
            engine = Engine(
                config.conventions,
                config.hot,
                config.table(),
                facts,
                keeps_python=True,
                sync_free=config.sync_free,
            )
            known = _Known(engine, settings, files)
        known.files = files
        self._known.append(known)
        return known.engine

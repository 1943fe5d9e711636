"""Settings of an editor for its work space, over the settings of the project."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from syncscan.config import Config, adjusted, find_config, load_config
from syncscan.errors import ConfigError

_WHERE = "the settings of the editor"


@dataclass(frozen=True, slots=True)
class Settings:
    """An editor's settings: on or off, a file in place of the nearest one, and a table over that file."""

    enable: bool = True
    config: Path | None = None
    table: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, given: object) -> Settings:
        """Parse what an editor sends: keys of ``[tool.syncscan]``, in camel case too, `enable`, `config`; ConfigError names a bad one."""
        if not isinstance(given, Mapping):
            raise ConfigError(f"{_WHERE} must be an object such as {{'select': ['SYN1']}}, not {given!r}")
        table = {re.sub("[A-Z]", lambda found: f"-{found[0].lower()}", key): given[key] for key in given}
        enable, config = table.pop("enable", True), table.pop("config", None)
        if not isinstance(enable, bool):
            raise ConfigError(f"{_WHERE}: enable: must be true or false, not {enable!r}")
        if not isinstance(config, (str, type(None))):
            raise ConfigError(f"{_WHERE}: config: must be the path of a TOML file, not {config!r}")
        adjusted(Config(Path.cwd()), table, _WHERE)
        return cls(enable, Path(config) if config else None, table)

    def config_in(self, folder: Path) -> Config:
        """Return the settings for the files of a folder."""
        config = load_config(self.config) if self.config is not None else find_config(folder)
        return adjusted(config, self.table, _WHERE)

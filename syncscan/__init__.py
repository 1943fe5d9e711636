"""Finds where PyTorch programs make the CPU wait for the GPU."""

from pathlib import Path

__version__ = "0.1.0"

# In a source tree the rule book lies beside this package; the build maps it to syncscan.rules.
_source_tree = Path(__file__).resolve().parent.parent
if (_source_tree / "rules" / "ops.toml").is_file() and (_source_tree / "pyproject.toml").is_file():
    __path__.append(str(_source_tree))

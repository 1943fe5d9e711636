"""Sync-free components of an inference runtime, to import or to paste.

One module for each family; ``syncscan template list`` names the components. This package imports
nothing itself, so that their sources can be read where torch is not installed.

What each component replaced, the form that made the host wait, is ``syncscan.reference.blocking``.
"""

from pathlib import Path

# In a source tree the blocking forms lie with the tests; the build maps them into this package.
_blocking = Path(__file__).resolve().parents[2] / "tests" / "reference"
if (_blocking / "blocking" / "__init__.py").is_file():
    __path__.append(str(_blocking))

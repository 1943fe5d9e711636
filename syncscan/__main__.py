"""Run syncscan as ``python -m syncscan``."""

import os.path
import sys

# Python puts the working folder first on the path, where a file of the project that is checked may be called
# like a module that we import. It stays if we were imported from there ourselves.
_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 (before any import)
if not getattr(sys.flags, "safe_path", sys.flags.isolated) and sys.path[0] != _OURS:
    del sys.path[0]

from syncscan.cli import main  # noqa: E402

main()

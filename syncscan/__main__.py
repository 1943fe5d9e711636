"""Run syncscan as ``python -m syncscan``."""

import os.path
import sys

# Python puts the working folder first on the path. A file of the checked project there may have the name of a
# module that syncscan imports. The folder stays on the path if it holds syncscan itself.
_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 (before any import)
if not getattr(sys.flags, "safe_path", sys.flags.isolated) and sys.path[0] != _OURS:
    del sys.path[0]

from syncscan.cli import main  # noqa: E402

main()

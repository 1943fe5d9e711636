"""Run syncscan as ``python -m syncscan``."""

from syncscan.cli import main

main()

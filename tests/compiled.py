"""Whether the inference under test is compiled, see `setup.py`."""

from __future__ import annotations

from syncscan.check.infer.solve import solver

IS_COMPILED = not solver.__file__.endswith(".py")

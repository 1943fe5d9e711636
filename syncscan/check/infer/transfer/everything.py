"""Imports every module of the package, so that all transfer functions are registered."""

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

for _module in iter_modules([str(Path(__file__).parent)]):
    if _module.name != "everything":
        import_module(f"{__package__}.{_module.name}")

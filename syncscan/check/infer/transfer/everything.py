"""Whole of the package, imported: every table is filled then."""

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

for _module in iter_modules([str(Path(__file__).parent)]):
    if _module.name != "everything":
        import_module(f"{__package__}.{_module.name}")

"""The evaluators: each module here registers what it evaluates; importing this package imports them all."""

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

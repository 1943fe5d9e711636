"""Imported by every Python that a traced command starts, before its own code.

Starts the hook, takes this folder off ``sys.path`` again, and gives way to the ``sitecustomize`` that
would have been imported without it. Written so that any Python can parse it.
"""

import os
import sys


def _start_hook():  # type: () -> None
    folder = os.environ.get("SYNCSCAN_TRACE")
    if sys.version_info < (3, 9) or not folder:
        return
    try:
        from _syncscan_hook import start  # type: ignore[import-not-found]

        start.start(folder)
    except Exception:  # noqa: S110 (nothing of ours may reach the program, and its stderr may be its log)
        pass


def _leave():  # type: () -> None
    here = os.path.dirname(__file__)
    sys.path[:] = [entry for entry in sys.path if entry != here]
    sys.path_importer_cache.pop(here, None)


def _import_the_other():  # type: () -> None
    """Import the next `sitecustomize` on the path under its name, if there is one."""
    del sys.modules["sitecustomize"]
    import sitecustomize  # type: ignore[import-not-found]  # noqa: F401


_start_hook()
_leave()
_import_the_other()

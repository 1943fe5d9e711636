"""Imported by every Python that a traced command starts, before its own code.

Starts the hook, takes this folder off ``sys.path`` again, and gives way to the ``sitecustomize`` that
would have been imported without it. Written so that any Python can parse it.
"""

import os
import sys


def _start_hook():
    if sys.version_info < (3, 9) or not os.environ.get("SYNCSCAN_TRACE"):
        return
    try:
        from _syncscan_hook import start  # type: ignore[import-not-found]

        start.start(os.environ["SYNCSCAN_TRACE"])
    except Exception as error:  # nothing of ours may reach the program
        sys.stderr.write("syncscan: this process is not traced: %s\n" % error)


def _leave_path():
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]


def _import_the_other():
    this = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # type: ignore[import-not-found]  # noqa: F401 (the next one on the path)
    except ImportError as error:
        if getattr(error, "name", "sitecustomize") != "sitecustomize":
            raise
    finally:
        if this is not None:
            sys.modules.setdefault("sitecustomize", this)


_start_hook()
_leave_path()
_import_the_other()

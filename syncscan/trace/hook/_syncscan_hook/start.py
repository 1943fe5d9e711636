"""Starts the trace of a process: announces the process, and watches for the import of torch.

That is all that most processes need, so this is short and uses built-in modules only: they start nearly as
fast as without us, and find every module as they would. All else is in `hook`, loaded with torch.
"""

import atexit
import os

from .imports import ImportWatch
from .part import TraceFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .hook import Hook

hook: "Hook | None" = None  # the Hook of this process, once it is needed
_process: "HookedProcess | None" = None  # if this process is traced


def start(folder: str) -> None:
    """Begin to trace this process into ``folder``; done once. Raises if that is not the folder of a trace."""
    global _process  # noqa: PLW0603
    if _process is None:
        _process = HookedProcess(folder)
        _process.begin()


def load_hook() -> "Hook | None":
    """Return the Hook of this process, made now if need be; None if this process is not traced."""
    return _process.load() if _process is not None else None


class HookedProcess:
    """A traced process of which nothing is known but that it runs."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.options = _read_options(folder)
        self.part = TraceFile(folder)

    def load(self) -> "Hook":
        """Return the Hook of this process."""
        global hook  # noqa: PLW0603
        if hook is None:
            from .hook import Hook

            hook = Hook(folder=self.folder, options=self.options, part=self.part)
        return hook

    def begin(self) -> None:
        """Create the file of this process, and watch for what is to be traced."""
        self.part.create()
        os.register_at_fork(after_in_child=_quietly(self._in_child))
        atexit.register(_quietly(self._end))  # first, so that it runs after the program's own
        if self.options.get("lines"):  # of modules that are imported before torch, too
            from .lines import begin

            _quietly(begin)(self.options)
        watch = ImportWatch()
        watch.when_imported("torch", _quietly(lambda torch: self.load().torch_imported(torch)))
        module = self.options.get("step", "").partition(":")[0]
        if module not in ("", "__main__"):
            watch.when_imported(module, _quietly(lambda module: self.load().wrap_step(module)))

    def _in_child(self) -> None:
        self.part = TraceFile(self.folder)
        self.part.create()
        if hook is not None:
            hook.in_child(self.part)

    def _end(self) -> None:
        if hook is not None:
            hook.end()


def _quietly(function: "Callable[..., object]") -> "Callable[..., None]":
    """Return the function with its exceptions dropped: no error of the hook may reach the program."""

    def call(*args: "Any") -> None:
        try:
            function(*args)
        except Exception:  # noqa: S110 (there is nowhere to say it: the program's stderr may be its log)
            pass

    return call


def _read_options(folder: str) -> "dict[str, str]":
    with open(os.path.join(folder, "options"), encoding="utf-8") as lines:
        return {name: value for name, _, value in (line.rstrip("\n").partition("\t") for line in lines)}

"""Begins to trace a process: says that it is there, and waits until it imports torch.

That is all that most processes need, so this is short and uses built-in modules only: they start nearly as
fast as without us, and find every module as they would. All else is in `hook`, loaded with torch.
"""

import atexit
import os
import sys
import time

from .imports import ImportWatch

hook = None  # the Hook of this process, once it is needed
_process = None  # the Process, if this one is traced


def start(folder):
    """Begin to trace this process into ``folder``; done once. Raises if that is not the folder of a trace."""
    global _process  # noqa: PLW0603
    if _process is None:
        _process = Process(folder)
        _process.begin()


def load_hook():
    """The Hook of this process, made now if need be; None if this process is not traced."""
    global hook  # noqa: PLW0603
    if hook is None and _process is not None:
        from .hook import Hook

        hook = Hook(folder=_process.folder, options=_process.options, part=_process.part)
    return hook


class Process:
    """A traced process of which nothing is known but that it runs."""

    def __init__(self, folder):
        self.folder = folder
        self.options = _read_options(folder)
        self.part = Part(folder)

    def begin(self):
        """Create the file of this process, and watch for what is to be traced."""
        self.part.create()
        os.register_at_fork(after_in_child=_quietly(self._in_child))
        atexit.register(_quietly(self._end))  # first, so that it runs after the program's own
        watch = ImportWatch()
        watch.when_imported("torch", _quietly(lambda torch: load_hook().torch_imported(torch)))
        module = self.options.get("step", "").partition(":")[0]
        if module not in ("", "__main__"):
            watch.when_imported(module, _quietly(lambda module: load_hook().wrap_step(module)))

    def _in_child(self):
        self.part = Part(self.folder)
        self.part.create()
        if hook is not None:
            hook.in_child(self.part)

    def _end(self):
        if hook is not None:
            hook.end()


class Part:
    """The file of one process: what is written into it comes from `output`."""

    def __init__(self, folder):
        started = time.time_ns()
        self.path = os.path.join(folder, f"{os.getpid()}-{started}.jsonl")
        argv = getattr(sys, "orig_argv", None) or [sys.executable or "python"]
        header = '{"syncscan_process": 1, "pid": %d, "ppid": %d, "started_ns": %d, "argv": "%s"}\n'
        hexadecimal = os.fsencode("\0".join(argv)).hex()
        self.header = (header % (os.getpid(), os.getppid(), started, hexadecimal)).encode()
        self.created = False

    def create(self):
        """Create the file, where that is possible now. Only for a process with one thread: see `append`."""
        try:
            with open(self.path, "xb", buffering=0) as file:
                self.created = file.write(self.header) == len(self.header)
        except OSError:  # the disk is full, the trace is over, ...
            pass


def _quietly(function):
    """The same function, which raises nothing: nothing of ours may reach the program."""

    def call(*args):
        try:
            function(*args)
        except Exception:  # noqa: S110 (there is nowhere to say it: the program's stderr may be its log)
            pass

    return call


def _read_options(folder):
    with open(os.path.join(folder, "options"), encoding="utf-8") as lines:
        return dict(line.rstrip("\n").split("\t", 1) for line in lines)

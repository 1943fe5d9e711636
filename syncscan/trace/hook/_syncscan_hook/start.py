"""Starts the hook in a traced process and keeps it alive across fork, exec and every kind of exit.

Until torch is imported only built-in modules are used, so that the program finds every module as it
would without us.
"""

import atexit
import os
import sys
from _thread import allocate_lock, start_new_thread
from time import perf_counter_ns

from .imports import ImportWatch
from .output import Output
from .record import Recorder

FLUSH_SECONDS = 1.0
FIRST_FLUSH_SECONDS = 0.1  # soon after CUDA starts, for programs that are killed soon
hook = None  # the Hook of this process, if it is traced


def start(folder):
    """Begin to trace this process into ``folder``; done once."""
    global hook  # noqa: PLW0603
    if hook is None:
        hook = Hook(folder)
        hook.begin()


class Hook:
    """The hook of one process."""

    def __init__(self, folder):
        self.folder = folder
        self.options = _read_options(folder)
        self.recorder = Recorder()
        self.steps = None
        self._output = Output(folder)
        self._lock = allocate_lock()
        self._stop = None
        self._detectors = []
        self._notes = []
        self._noted = set()
        self._failure = None
        self._torch_line = None
        self._began_ns = 0
        self._flushed_steps = None
        self._flushed_armed = None

    def begin(self):
        """Open the file of this process and watch for torch."""
        self._output.open()
        os.register_at_fork(
            before=self._before_fork, after_in_parent=self._in_parent, after_in_child=self._in_child
        )
        for name in ("_exit", "execv", "execve"):
            setattr(os, name, self._flush_before(getattr(os, name)))
        atexit.register(self.end)
        watch = ImportWatch()
        watch.when_imported("torch", self._quietly(self._torch_imported))
        if self.options.get("step"):
            self._watch_step(watch)

    def _watch_step(self, watch):
        module = self.options["step"].partition(":")[0]
        if module != "__main__":
            watch.when_imported(module, self._quietly(lambda module: self._make_steps().wrap_in(module)))

    def _make_steps(self):
        if self.steps is None:
            from .steps import Steps

            warmup = int(self.options.get("warmup", "0"))
            self.steps = Steps(self.recorder, self.options["step"], warmup, self.note)
        return self.steps

    def note(self, message):
        """Keep a message for the report, once; safe in a callback."""
        if message not in self._noted:
            self._noted.add(message)
            self._notes.append(message)

    def fail(self, message):
        """Say with the next flush, once, that the hook stopped; the program goes on."""
        if self._failure is None:
            self._failure = message
            self.note(message)

    def _torch_imported(self, torch):
        simulated = self.options.get("simulator")
        cuda = "simulated" if simulated else getattr(getattr(torch, "version", None), "cuda", None)
        folder = os.path.dirname(os.path.abspath(torch.__file__))
        self._torch_line = {"version": str(torch.__version__), "folder": folder, "cuda": cuda}
        self._output.write(torch=self._torch_line, rank=_rank())
        if self.options.get("step"):
            from . import steps

            steps.is_compiling = getattr(torch.compiler, "is_compiling", steps.never)
        if self.options.get("backward_lines"):
            torch.autograd.set_detect_anomaly(True, check_nan=False)
        if simulated:
            self._simulate()
        else:
            torch.cuda._lazy_call(self._quietly(self.arm))

    def arm(self):
        """Arm the detectors; runs as soon as torch has started CUDA in this process."""
        from .arm import arm

        self._begin(arm(self.options.get("detector", "auto"), self.recorder, self.note, self.fail))

    def _simulate(self):
        """Give the program a GPU that is none, from the moment that it has torch."""
        from .simulated import Simulated

        detector = Simulated(self.recorder)
        begin = self._quietly(lambda: self._begin([detector]))
        detector.arm(self.options["simulator"], os.path.join(self.folder, "operations"), begin)

    def _begin(self, detectors):
        import threading

        self.recorder.active = threading._active
        if self._began_ns == 0:
            self._began_ns = perf_counter_ns()
        self._detectors = detectors
        self._write_armed()  # now: a process that is killed before the first flush did use the GPU
        self._find_main_step()
        self._start_flushing()

    def _find_main_step(self):
        """A step of the script itself: nothing tells when the script has defined it."""
        if self.options.get("step") and not self._make_steps().wrapped and self._is_main(self.steps.module):
            self.steps.wrap_in(sys.modules["__main__"])

    def _find_late_step(self):
        """The same, once CUDA has started."""
        if self.steps is not None and not self.steps.wrapped:
            self._find_main_step()
            if self.steps.wrapped:
                self.note(
                    f"--step: {self.options['step']} was defined after CUDA started, and calls soon after are"
                    " not counted: put it into a module, or start CUDA later"
                )

    @staticmethod
    def _is_main(module):
        spec = getattr(sys.modules["__main__"], "__spec__", None)  # given by `python -m`
        return module == "__main__" or (spec is not None and spec.name in (module, module + ".__main__"))

    def _start_flushing(self):
        if self._stop is None:
            self._stop = allocate_lock()
            self._stop.acquire()
            start_new_thread(self._flush_loop, (self._stop,))

    def _flush_loop(self, stop):
        pause = FIRST_FLUSH_SECONDS
        while not stop.acquire(timeout=pause):
            pause = min(2 * pause, FLUSH_SECONDS)
            self._quietly(self._find_late_step)()
            for detector in self._detectors:
                if detector.name == "debug-mode":
                    detector.keep_first()
            self.flush()

    def flush(self):
        """Append what changed since the last time; never raises."""
        if not self._lock.acquire(timeout=FLUSH_SECONDS):
            return
        try:
            self._write_changes()
        except Exception:  # noqa: S110 (the folder is gone, the disk is full, ...)
            pass
        finally:
            self._lock.release()

    def _write_changes(self):
        if self._failure:
            sys.stderr.write(f"syncscan: tracing stops here: {self._failure}\n")
            self._failure = ""
        self.recorder.digest()
        while self._notes:
            self._output.write(note=self._notes.pop(0))
        if self._began_ns == 0:
            return
        self._write_armed()
        self._output.write_entries(self.recorder)
        if self.steps is not None:
            steps = self.steps.summary()
            progress = (steps["started"], steps["steady"])
            if progress != self._flushed_steps:
                self._flushed_steps = progress
                self._output.write(steps=steps)
        self._output.write(wall_ns=perf_counter_ns() - self._began_ns)
        self._output.compact(self.recorder)

    def _write_armed(self):
        armed = [detector.name for detector in self._detectors]
        if armed != self._flushed_armed:
            self._flushed_armed = armed
            self._output.write(armed=armed)

    def end(self):
        """Last of the functions that run at exit: CUPTI crashes if it is left subscribed."""
        if self._stop is not None and self._stop.locked():
            self._stop.release()
        for detector in self._detectors:
            self._quietly(detector.disarm)()
        self._quietly(self._find_late_step)()
        self.flush()

    def _before_fork(self):
        self.flush()
        self._lock.acquire()

    def _in_parent(self):
        self._lock.release()

    def _in_child(self):
        """Start a file of its own; CUDA, if the parent had started it, does not work here."""
        self._lock = allocate_lock()
        self._stop = None
        self._notes = []
        self._began_ns = 0
        self._flushed_steps = None
        self._flushed_armed = None
        self.recorder.reset()
        if self.steps is not None:
            self.steps.reset()
        self._output = Output(self.folder)
        self._quietly(self._output.open)()
        if self._torch_line is not None:
            self._quietly(self._output.write)(torch=self._torch_line, rank=_rank())
        if self.options.get("simulator") and self._detectors:  # a simulated GPU survives a fork
            self._quietly(self._begin)(self._detectors)

    def _flush_before(self, original):
        def flush_first(*args, **kwargs):
            self.flush()
            return original(*args, **kwargs)

        flush_first.__name__ = original.__name__
        flush_first.__doc__ = original.__doc__
        return flush_first

    def _quietly(self, function):
        def call(*args, **kwargs):
            try:
                function(*args, **kwargs)
            except Exception as error:  # nothing of ours may reach the program
                self.fail(f"the hook failed in {function.__name__}: {error!r}")

        return call


def _read_options(folder):
    with open(os.path.join(folder, "options")) as lines:
        return dict(line.rstrip("\n").split("\t", 1) for line in lines)


def _rank():
    """The rank that torchrun, Slurm or MPI gave this process, or None."""
    for name in ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK"):
        if os.environ.get(name, "").isdigit():
            return int(os.environ[name])
    return None

"""The hook of a process that uses torch: arms the detectors, and keeps what they see across every kind of exit.

Loaded when torch has been imported. From here on nothing else is: a module that is read while the program
runs would open files beside it.
"""

from __future__ import annotations

import os
import sys
import threading
from _thread import allocate_lock, get_ident
from time import perf_counter_ns

from . import steps
from .arm import arm
from .checked import TimelineCheck
from .exits import flush_before_exits
from .interrupts import again, keep
from .output import Output
from .record import WaitRecorder
from .room import with_room
from .script import before_each_line
from .simulated import Simulated
from .threads import start_thread
from .watch import watches
from .window import Window

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .interfaces import Detector, Watch
    from .part import TraceFile
    from .threads import Join

FLUSH_SECONDS = 1.0
FLUSHED_ONE_BY_ONE = 100  # synchronizations on a simulated GPU
FIRST_FLUSH_SECONDS = 0.1  # soon after CUDA starts, for programs that are killed soon


class Hook:
    """The hook of one process."""

    def __init__(self, folder: str, options: dict[str, str], part: TraceFile) -> None:
        self.folder = folder
        self.options = options
        self.recorder = WaitRecorder()
        self._window = Window(options)
        self.recorder.recording = self._window.is_open
        self.steps: steps.Steps | None = None
        self._checked = TimelineCheck(self.note) if options.get("starved") and options.get("step") else None
        self._watches: list[Watch] = []
        self._output = Output(part, self.recorder, self._watches)
        self._lock = allocate_lock()
        self._sender: int | None = None  # the thread that holds it
        self._stop: Any = None  # a lock: once it is free, the flush thread ends
        self._join: Join | None = None
        self._detectors: list[Detector] = []
        self._notes: list[str] = []
        self._noted: set[str] = set()
        self._failed = False
        self._torch_line: dict[str, Any] | None = None
        self._began_ns = self._ended_ns = 0
        self._waits = 0
        self._flush_due_ns = 0
        self._flushed_steps: tuple[int, int] | None = None
        self._flushed_armed: list[str] | None = None
        self._flushed_check: dict[str, int] | None = None

    def note(self, message: str) -> None:
        """Keep a message for the report, once; safe in a callback."""
        if message not in self._noted:
            self._noted.add(message)
            self._notes.append(message)

    def fail(self, message: str) -> None:
        """Keep for the report, once, why the hook stopped; the program goes on and notices nothing."""
        if not self._failed:
            self._failed = True
            self.note(f"tracing stops here: {message}")

    def torch_imported(self, torch: Any) -> None:
        """Note the import, and wait for CUDA to start."""
        simulated = self.options.get("simulator")
        cuda = "simulated" if simulated else getattr(getattr(torch, "version", None), "cuda", None)
        folder, library = (os.path.dirname(os.path.abspath(file)) for file in (torch.__file__, os.__file__))
        version = str(torch.__version__)
        self._torch_line = {"version": version, "folder": folder, "library": library, "cuda": cuda}
        self._send(self._write_torch)
        flush_before_exits(self.flush)
        if self.options.get("step"):
            steps.is_compiling = getattr(torch.compiler, "is_compiling", steps.never)
            self._find_step_of_script()
        if self.options.get("backward_lines"):
            torch.autograd.set_detect_anomaly(True, check_nan=False)
        if simulated:
            self._simulate()
        else:
            torch.cuda._lazy_call(lambda: with_room(self._quietly(self.arm), FLUSH_SECONDS))
        self._watches += watches(torch, self.options, self.note, self.flush)

    def arm(self) -> None:
        """Arm the detectors, if it is time; runs as soon as torch has started CUDA in this process, and then again."""
        wanted = self.options.get("detector", "auto") if self._window.is_open else "none"
        starved = bool(self.options.get("starved"))
        self._begin(arm(wanted, self.recorder, self.note, self.fail, starved=starved, checked=self._checked))

    def _follow_window(self) -> None:
        """Start or end the recording when the traced part of the run starts or ends."""
        if self.recorder.recording and self._window.is_over:
            self.recorder.recording = False
            self._ended_ns = perf_counter_ns()
            for detector in self._detectors:
                self._quietly(detector.disarm)()
        elif self._window.is_open and not self.recorder.recording:
            if self.options.get("simulator"):
                self._begin(self._detectors)
            else:
                self.arm()

    def _simulate(self) -> None:
        """Give the program a simulated GPU from the import of torch on."""
        detector = Simulated(
            self.recorder,
            self.options["simulator"],
            os.path.join(self.folder, "operations"),
            self.options.get("kernels", "auto"),
            when_used=lambda: with_room(self._quietly(lambda: self._begin([detector])), FLUSH_SECONDS),
            flush=self.flush_often,
        )
        try:
            detector.arm()
        except Exception as error:
            self.fail(f"there is no simulated GPU for this torch: {error!r}")
            return
        self._watches.append(detector)

    def _begin(self, detectors: list[Detector]) -> None:
        self.recorder.active = threading._active  # type: ignore[attr-defined]
        if self._began_ns == 0 and self._window.is_over:
            self.note("it started CUDA after the time that was to be traced")
        self.recorder.recording = self._window.is_open
        if self._began_ns == 0 and self.recorder.recording:
            self._began_ns = perf_counter_ns()
        self._detectors = detectors
        self._send(self._write_armed)  # a process that is killed before the first flush did use the GPU
        self._find_main_step()
        self._start_flushing()

    def wrap_step(self, module: Any) -> None:
        """Replace the function that is the step, in its module."""
        self._make_steps().wrap_in(module)

    def _make_steps(self) -> steps.Steps:
        if self.steps is None:
            warmup = int(self.options.get("warmup", "0"))
            after_step = self._quietly(self._checked.after_step) if self._checked is not None else None
            self.steps = steps.Steps(self.recorder, self.options["step"], warmup, self.note, after_step)
        return self.steps

    def _find_step_of_script(self) -> None:
        """Wrap a step of the script itself once the script has defined the step.

        The search ends with the first call of the step.
        """
        found = self._make_steps()
        if self._is_main(found.module):
            main = sys.modules["__main__"]
            look = self._quietly(lambda: found.wrap_in(main))

            def is_called() -> bool:
                look()
                return found.started > 0

            before_each_line(main, found.name, is_called)

    def _find_main_step(self) -> None:
        """Wrap a step of the script where no trace function could follow the script."""
        if not self.options.get("step"):
            return
        found = self._make_steps()
        if not found.wrapped and self._is_main(found.module):
            found.wrap_in(sys.modules["__main__"])

    def _find_late_step(self) -> None:
        """Wrap a step that the script defined after CUDA had started, and note the calls missed."""
        if self.steps is not None and not self.steps.wrapped:
            self._find_main_step()
            if self.steps.wrapped:
                self.note(
                    f"--step: {self.options['step']} was defined after CUDA started, and calls soon after are"
                    " not counted: put it into a module, or start CUDA later"
                )

    @staticmethod
    def _is_main(module: str) -> bool:
        spec = getattr(sys.modules["__main__"], "__spec__", None)  # given by `python -m`
        return module == "__main__" or (spec is not None and spec.name in (module, module + ".__main__"))

    def _start_flushing(self) -> None:
        if self._stop is None:
            self._stop = allocate_lock()
            self._stop.acquire()
            self._join = start_thread(self._quietly(self._flush_loop))

    def _flush_loop(self) -> None:
        stop = self._stop
        pause = FIRST_FLUSH_SECONDS
        while not stop.acquire(timeout=self._until_next(pause)):
            pause = min(2 * pause, FLUSH_SECONDS)
            self._quietly(self._follow_window)()
            self._quietly(self._find_late_step)()
            for detector in self._detectors:
                self._quietly(detector.before_flush)()
            self.flush()

    def _until_next(self, pause: float) -> float:
        left = self._window.seconds_left
        return min(pause, left) if left > 0 else pause

    def flush(self) -> None:
        """Append what changed since the last time; never raises."""
        with_room(self._flush, FLUSH_SECONDS)

    def _flush(self) -> None:
        self._send(self._write_changes)

    def flush_often(self) -> None:
        """Flush after an event, in the thread that was blocked: a pool kills its workers when it has their results.

        Flush the first events one by one, and then for at most a tenth of the time.
        """
        self._waits += 1
        began = perf_counter_ns()
        if self._waits <= FLUSHED_ONE_BY_ONE or began >= self._flush_due_ns:
            self.flush()
            ended = perf_counter_ns()
            self._flush_due_ns = ended + 9 * (ended - began)

    def _send(self, write: Callable[[], None]) -> None:
        """Let ``write`` write lines, and send them."""
        lock = self._lock  # of this process: a signal handler may fork meanwhile
        if self._sender == get_ident() or not lock.acquire(timeout=FLUSH_SECONDS):
            return  # a signal handler came between, or another thread takes too long
        self._sender = get_ident()
        try:
            self._quietly(self._output.take)(write)
            self._quietly(self._output.send)()
        finally:
            self._sender = None
            lock.release()

    def _write_changes(self) -> None:
        while self._notes:
            self._output.write(note=self._notes[0])
            del self._notes[0]
        self.recorder.digest()
        self._output.write_watched()
        if self._began_ns == 0:
            return
        self._write_armed()
        self._output.write_entries()
        if self.steps is not None:
            summary = self.steps.summary()
            progress = (summary["started"], summary["steady"])
            if progress != self._flushed_steps:
                self._flushed_steps = progress
                self._output.write(steps=summary)
        if self._checked is not None and self._checked.result != self._flushed_check:
            self._flushed_check = self._checked.result
            self._output.write(checked=self._flushed_check)
        self._output.write(wall_ns=(self._ended_ns or perf_counter_ns()) - self._began_ns)

    def _write_torch(self) -> None:
        self._output.write(torch=self._torch_line, rank=_rank())

    def _write_armed(self) -> None:
        armed = [detector.name for detector in self._detectors]
        if armed != self._flushed_armed:
            self._flushed_armed = armed
            self._output.write(armed=armed)

    def end(self) -> None:
        """Unsubscribe from CUPTI as the last function at exit: CUPTI crashes if a subscription remains."""
        if self._join is not None and self._stop.locked():
            self._stop.release()
            self._join(FLUSH_SECONDS)
        for detector in self._detectors:
            self._quietly(detector.disarm)()
        self._quietly(self._find_late_step)()
        self.flush()

    def in_child(self, part: TraceFile) -> None:
        """Start over in a forked child; CUDA, if the parent had started it, does not work here."""
        self._lock = allocate_lock()
        self._sender = None
        self._stop = None
        self._join = None
        self._notes = []
        self._began_ns = self._ended_ns = 0
        self._waits = 0
        self._flushed_steps = None
        self._flushed_armed = self._flushed_check = None
        if self._checked is not None:
            self._checked.reset()
        self.recorder.reset()
        self.recorder.recording = self._window.is_open
        if self.steps is not None:
            self.steps.reset()
        self._output = Output(part, self.recorder, self._watches)
        for watch in self._watches:
            watch.reset()
        if self._torch_line is not None:
            self._send(self._write_torch)
        if self.options.get("simulator") and self._detectors:  # a simulated GPU survives a fork
            self._begin(self._detectors)

    def _quietly(self, function: Callable[..., object]) -> Callable[..., None]:
        def call(*args: Any, **kwargs: Any) -> None:
            try:
                function(*args, **kwargs)
            except BaseException as error:  # nothing of ours may reach the program
                if keep(error):
                    _ = -again
                else:
                    self.fail(f"the hook failed in {function.__name__}: {error!r}")

        return call


def _rank() -> int | None:
    """Return the rank that torchrun, Slurm or MPI gave this process, or None."""
    for name in ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK"):
        if os.environ.get(name, "").isdigit():
            return int(os.environ[name])
    return None

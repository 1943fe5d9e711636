"""Marks the steps of the program: the calls of one function, wrapped when its module is imported."""

from __future__ import annotations

import functools
from _thread import get_ident
from contextvars import ContextVar
from time import perf_counter_ns

from .record import STEADY_MOMENTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from contextvars import Token
    from typing import Any

    from .interfaces import Note
    from .record import WaitRecorder

    Entered = tuple[Token[int], "list[None] | None"]  # what `_leave` needs


MAX_WINDOWS = 1000  # the number of steps with a time in the timeline


def never() -> bool:
    """Stand in for ``torch.compiler.is_compiling`` until torch is there."""
    return False


is_compiling: Callable[[], bool] = never


class Steps:
    """Counts the steps and gives the recorder its phase.

    Steps that overlap, in threads or tasks, share a window: its synchronizations are divided among them.
    """

    def __init__(
        self,
        recorder: WaitRecorder,
        target: str,
        warmup: int,
        note: Note,
        after_step: Callable[[int, int], None] | None = None,
    ) -> None:
        self.module, _, self._path = target.partition(":")
        self.name = self._path.partition(".")[0]  # in the module
        self._target = target
        self._recorder = recorder
        self._warmup = warmup
        self._note = note
        self._after_step = (
            after_step  # called with the begin and the nanoseconds of a steady step; raises nothing
        )
        self._window_began = 0
        self._window_calls = 0
        self.wrapped = False
        self._wrapper: Any = None  # in place of the function, until the program replaces it
        self.reset()

    def reset(self) -> None:
        """Start over, in a forked child; a step that is running there goes on uncounted."""
        self._depth: ContextVar[int] = ContextVar("syncscan_step_depth", default=0)
        self._running: list[None] = []
        self.started = 0
        self.steady = 0
        self.wall_ns = 0
        self.most: dict[str, tuple[float, dict[int, float]]] = {"syncs": (0, {}), "blocked_ns": (0, {})}

    def wrap_in(self, module: Any) -> None:
        """Replace the function named after the colon; say so once if there is none."""
        owner, found = module, None
        *outer, name = self._path.split(".")
        for part in outer:
            owner = getattr(owner, part, None)
        found = vars(owner).get(name, getattr(owner, name, None)) if owner is not None else None
        if found is None:
            if module.__name__ != "__main__":
                self._note(f"--step: {self.module} has no {self._path}")
            return
        if found is self._wrapper:
            return
        if _is_generator_function(getattr(found, "__func__", found)):
            self._note(f"--step: {self._target} is a generator, whose calls are no steps: name what it calls")
            return
        self._wrapper = self._wrap(found)
        setattr(owner, name, self._wrapper)
        self.wrapped = True

    def _wrap(self, found: Any) -> Any:
        if isinstance(found, (staticmethod, classmethod)):
            return type(found)(self._wrap(found.__func__))
        if _is_coroutine_function(found):
            return self._wrap_coroutine(found)

        @functools.wraps(found)
        def step(*args: Any, **kwargs: Any) -> Any:
            if is_compiling():
                return found(*args, **kwargs)
            token = self._enter()
            try:
                return found(*args, **kwargs)
            finally:
                self._leave(token)

        return step

    def _wrap_coroutine(self, found: Any) -> Any:
        @functools.wraps(found)
        async def step(*args: Any, **kwargs: Any) -> Any:
            token = self._enter()
            try:
                return await found(*args, **kwargs)
            finally:
                self._leave(token)

        return step

    def _enter(self) -> Entered:
        depth = self._depth.get()
        token = self._depth.set(depth + 1)
        if depth or not self._recorder.recording:
            return token, None
        self.started += 1
        warm = self.started <= self._warmup
        self._running.append(None)
        if len(self._running) == 1:
            if not warm and not self.steady and self._recorder.room < STEADY_MOMENTS:
                self._recorder.room = STEADY_MOMENTS
            self._recorder.phase = "warmup" if warm else "steady"
            self._recorder.in_step = {}
            self._window_began = perf_counter_ns()
            self._window_calls = 0
        self._window_calls += 1
        return token, self._running

    def _leave(self, entered: Entered) -> None:
        token, running = entered
        try:
            self._depth.reset(token)
        except ValueError:  # left in another context than it was entered in, or after a fork
            self._depth.set(0)
        if running is self._running:  # and not a step that a fork left behind
            running.pop()
            if not running:
                self._close_window()

    def _close_window(self) -> None:
        recorder = self._recorder
        window, recorder.in_step = recorder.in_step or {}, None
        phase, recorder.phase = recorder.phase, "outside"
        lasted = perf_counter_ns() - self._window_began
        if len(recorder.windows) < MAX_WINDOWS:
            waits, blocked = (sum(counts[i] for counts in window.values()) for i in (0, 1))
            thread = recorder.number_of(recorder.active.get(get_ident()))
            recorder.windows.append((phase, thread, self._window_began, lasted, waits, blocked))
        if phase != "steady" or not recorder.recording:  # the end of what is traced came in between
            return
        calls = self._window_calls
        self.wall_ns += lasted
        for entry, (count, duration) in window.items():
            counts, durations = entry.squares
            entry.squares = (counts + count * count / calls, durations + duration * duration / calls)
        for position, name in enumerate(self.most):
            total = sum(counts[position] for counts in window.values()) / calls
            if total > self.most[name][0]:
                parts = {entry.id: counts[position] / calls for entry, counts in window.items()}
                self.most[name] = (total, parts)
        self.steady += calls  # last: another thread writes a summary when it has changed
        if self._after_step is not None:
            self._after_step(self._window_began, lasted)

    def summary(self) -> dict[str, Any]:
        """Return what the file says of the steps so far."""
        return {
            "target": self._target,
            "started": self.started,
            "steady": self.steady,
            "wall_ns": self.wall_ns,
            "most": self.most,
        }


def _is_coroutine_function(function: Any) -> bool:
    return _has_flags(function, 0x80)  # CO_COROUTINE


def _is_generator_function(function: Any) -> bool:
    return _has_flags(function, 0x20 | 0x200)  # CO_GENERATOR, CO_ASYNC_GENERATOR


def _has_flags(function: Any, flags: int) -> bool:
    code = getattr(function, "__code__", None)
    return code is not None and bool(code.co_flags & flags)

"""A small program, and what all of them have in common."""

from __future__ import annotations

from dataclasses import dataclass, field

USE = "import torch\nt = torch.zeros(1, device=DEVICE)\nt.item()\n"
# What a program leaves behind is written by the first of its exit handlers, which runs last.
STATE = """\
import atexit, os, sys
DEVICE = os.environ.get("DEVICE", "cuda")
def _state(out=os.path.join(os.getcwd(), "state"), fds=lambda: sorted(os.listdir("/proc/self/fd")), pid=os.getpid()):
    if os.getpid() != pid: return
    import gc, signal, threading, warnings
    ours = lambda name: "syncscan" in name or name == "sitecustomize"
    lines = [
        sys.argv, sys.path, sys.flags, sys.warnoptions, getattr(sys, "orig_argv", 0), sys.gettrace(), sys.getprofile(),
        sys.getrecursionlimit(), sys.getswitchinterval(), sys.excepthook, sys.unraisablehook, sys.displayhook, sys.dont_write_bytecode,
        sorted(type(finder).__name__ for finder in sys.meta_path), len(sys.path_hooks), os.getcwd(), os.umask(0o22),
        [thread.name for thread in threading.enumerate()], threading.excepthook, gc.isenabled(), gc.get_threshold(), gc.callbacks,
        [(n, signal.getsignal(n)) for n in sorted(signal.valid_signals())], signal.pthread_sigmask(signal.SIG_BLOCK, []),
        signal.getitimer(signal.ITIMER_REAL), [f[:2] for f in warnings.filters if f[0]], warnings.showwarning, fds(),
        sorted(set(os.environ) - {"PYTHONPATH", "SYNCSCAN_TRACE", "LC_CTYPE"}),
    ]
    modules = sorted(name for name in sys.modules if not ours(name) and name.partition(".")[0] in sys.modules["__main__"].__dict__)
    with open(out, "w") as file:
        for line in [*lines, *(f"module {name}" for name in modules)]: print(line, file=file)
atexit.register(_state)
"""


@dataclass(frozen=True)
class Program:
    """A program, and how it is started; ``{python}`` and ``{script}`` in the command stand for what they say."""

    source: str
    command: tuple[str, ...] = ("{python}", "{script}")
    stdin: str = ""
    variables: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    version: str = ""  # of the Python; that of the harness where it is empty
    state: bool = True  # whether what it leaves behind is compared
    computes: bool = False  # with the real torch; the stand-in has few operations

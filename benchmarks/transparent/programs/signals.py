"""Programs that get signals."""

from __future__ import annotations

from collections.abc import Iterator

from .program import USE, Program


def programs() -> Iterator[tuple[str, Program]]:
    """Yield each by its name."""
    kill = "os.kill(os.getpid(), signal.{name})\nprint('after')\n"
    names = ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGQUIT", "SIGPIPE", "SIGABRT", "SIGCHLD", "SIGWINCH", "SIGURG", "SIGXFSZ", "SIGRTMIN"]  # fmt: skip
    for name in names:
        yield (
            f"{name}, default",
            Program(
                USE
                + f"import signal\nsignal.signal(signal.{name}, signal.SIG_DFL)\n"
                + kill.format(name=name)
            ),
        )
        yield (
            f"{name}, handled",
            Program(
                USE
                + f"import signal\nsignal.signal(signal.{name}, lambda n, _: print('got', n))\n"
                + kill.format(name=name)
            ),
        )
        yield (
            f"{name}, raising",
            Program(
                USE
                + f"import signal\ndef h(*_): raise OSError('stop')\nsignal.signal(signal.{name}, h)\n"
                + kill.format(name=name)
            ),
        )
    yield "SIGKILL", Program(USE + "import signal\n" + kill.format(name="SIGKILL"))
    for name, source in {
        "SIGINT as it is": "os.kill(os.getpid(), signal.SIGINT)\nprint('after')\n",
        "a timer while reading": "class Alarm(Exception): pass\ndef h(*_): raise Alarm\nsignal.signal(signal.SIGALRM, h)\ncaught = 0\nfor _ in range(20):\n    try:\n        signal.setitimer(signal.ITIMER_REAL, 0.002)\n        while True: t.item()\n    except Alarm: caught += 1\nprint(caught)\n",
        "a repeated timer": "n = 0\ndef h(*_):\n    global n; n += 1\nsignal.signal(signal.SIGPROF, h)\nsignal.setitimer(signal.ITIMER_PROF, 0.005, 0.005)\nwhile n < 5: t.item()\nprint(n >= 5)\nsignal.setitimer(signal.ITIMER_PROF, 0)\n",
        "sigwait": "signal.pthread_sigmask(signal.SIG_BLOCK, [10])\nos.kill(os.getpid(), 10)\nprint(signal.sigwait([10]))\n",
        "sigpending": "signal.pthread_sigmask(signal.SIG_BLOCK, [10])\nos.kill(os.getpid(), 10)\nprint(signal.sigpending())\n",
        "a wakeup descriptor": "r, w = os.pipe(); os.set_blocking(w, False)\nsignal.signal(10, lambda *_: None); signal.set_wakeup_fd(w)\nos.kill(os.getpid(), 10)\nprint(os.read(r, 1))\n",
        "a signal for a thread": "import threading\nsignal.signal(10, lambda n, _: print('got', n))\nsignal.pthread_kill(threading.get_ident(), 10)\n",
        "a child that ends": "signal.signal(signal.SIGCHLD, lambda n, _: print('child'))\nif not os.fork(): os._exit(0)\nos.wait()\n",
        "stop and go on": "if not os.fork():\n    import time; time.sleep(0.2); os.kill(os.getppid(), signal.SIGCONT); os._exit(0)\nos.kill(os.getpid(), signal.SIGSTOP)\nprint('on')\nos.wait()\n",
        "an interrupted system call": "signal.signal(signal.SIGALRM, lambda *_: print('alarm'))\nsignal.setitimer(signal.ITIMER_REAL, 0.05)\nimport time; time.sleep(0.1); print('slept')\n",
        "siginterrupt": "signal.signal(10, lambda *_: None); signal.siginterrupt(10, False)\nos.kill(os.getpid(), 10); print(1)\n",
    }.items():
        yield f"signals: {name}", Program(USE + "import signal\n" + source)
    # The alarm comes between any two instructions of the loop, so the traceback has one line for all, and no columns.
    yield (
        "signals: a timer that raises to the end",
        Program(
            USE
            + "import signal\nsignal.setitimer(signal.ITIMER_REAL, 0.02)\n"
            + "signal.signal(signal.SIGALRM, signal.default_int_handler)\nwhile True: t.item()\n",
            variables={"PYTHONNODEBUGRANGES": "1"},
        ),
    )

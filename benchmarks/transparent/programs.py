"""Small programs that look at themselves: each says what it is in its name, and ends in its own way.

``USE`` stands for the import of torch and a wait on the GPU. A program is told by its source, by how it is started,
and by what it finds: files, variables of the environment, standard input.
"""

from __future__ import annotations

from collections.abc import Iterator
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


def programs() -> dict[str, Program]:
    """Return every program by its name."""
    found: dict[str, Program] = {}
    for group in (_starts, _endings, _signals, _processes, _limits, _files, _tools, _looks):
        for name, program in group():
            assert name not in found, name
            found[name] = program
    found.update(_on_other_pythons(found))
    return found


def _starts() -> Iterator[tuple[str, Program]]:
    flags = [
        "-O", "-OO", "-B", "-E", "-I", "-S", "-s", "-u", "-b", "-bb", "-q", "-Werror", "-Wignore", "-Walways", "-Wdefault",
        "-Xdev", "-Xutf8", "-Xfaulthandler", "-Xtracemalloc", "-Xint_max_str_digits=0", "-P",
    ]  # fmt: skip
    for flag in flags:
        isolated = flag in ("-E", "-I", "-S", "-P")
        yield f"start {flag}", Program("print(sys.flags)\n", ("{python}", flag, "{script}"))
        if not isolated:
            yield (
                f"start {flag} with torch",
                Program(USE + "print(sys.flags)\n", ("{python}", flag, "{script}")),
            )
    variables = {
        "PYTHONDONTWRITEBYTECODE": "1", "PYTHONOPTIMIZE": "2", "PYTHONWARNINGS": "error", "PYTHONUNBUFFERED": "1",
        "PYTHONHASHSEED": "0", "PYTHONUTF8": "1", "PYTHONIOENCODING": "latin-1", "PYTHONSAFEPATH": "1", "PYTHONDEVMODE": "1",
        "PYTHONFAULTHANDLER": "1", "PYTHONTRACEMALLOC": "1", "PYTHONINTMAXSTRDIGITS": "0", "PYTHONNOUSERSITE": "1",
        "PYTHONASYNCIODEBUG": "1", "PYTHONMALLOC": "debug", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "TMPDIR": "/nonexistent",
        "HOME": "/nonexistent", "PYTHONPYCACHEPREFIX": "cache",
    }  # fmt: skip
    for name, value in variables.items():
        yield (
            f"variable {name}",
            Program(
                USE + "print(sys.flags, hash('a') if sys.flags.hash_randomization == 0 else 0)\n",
                variables={name: value},
            ),
        )
    yield (
        "start -c",
        Program(
            "",
            (
                "{python}",
                "-c",
                USE.replace("DEVICE", "'cuda'")
                + "import sys; print(sys.argv, __file__ if '__file__' in globals() else 0)",
            ),
            state=False,
        ),
    )
    yield "start from standard input", Program("", ("{python}", "-"), stdin=STATE + USE + "print(sys.argv)\n")
    yield (
        "start -m",
        Program(
            "",
            ("{python}", "-m", "package.tool", "x"),
            files={
                "package/__init__.py": "",
                "package/tool.py": STATE + USE + "print(sys.argv[1:], __spec__.name, __package__)\n",
            },
        ),
    )
    yield (
        "start a folder",
        Program(
            "", ("{python}", "app"), files={"app/__main__.py": STATE + USE + "print(__name__, __spec__)\n"}
        ),
    )
    yield "start through env", Program(USE + "print(1)\n", ("env", "{python}", "{script}"))
    yield (
        "start through sh",
        Program(USE + "print(sys.argv)\n", ("sh", "-c", "{python} {script} a 'b c'; echo $?")),
    )
    yield (
        "start without environment",
        Program("print(sorted(os.environ))\n", ("env", "-i", "{python}", "{script}")),
    )
    yield (
        "start with closed input",
        Program(USE + "print(sys.stdin)\n", ("sh", "-c", "exec {python} {script} <&-")),
    )
    yield (
        "start with closed output",
        Program(USE + "print(sys.stdout, file=sys.stderr)\n", ("sh", "-c", "exec {python} {script} >&-")),
    )
    yield (
        "start with closed errors",
        Program(USE + "print(sys.stderr)\n", ("sh", "-c", "exec {python} {script} 2>&-")),
    )
    yield (
        "start with all closed",
        Program(USE + "open('mine', 'w').write('x')\n", ("sh", "-c", "exec {python} {script} <&- >&- 2>&-")),
    )
    yield (
        "start with a full output",
        Program(USE + "print('x' * 100000)\n", ("sh", "-c", "exec {python} {script} >/dev/full")),
    )
    yield (
        "start with an extra descriptor",
        Program(USE + "print(os.read(9, 5))\n", ("sh", "-c", "echo hello >f; exec {python} {script} 9<f")),
    )
    yield (
        "start with nohup",
        Program(USE + "import signal; print(signal.getsignal(1))\n", ("nohup", "{python}", "{script}")),
    )
    yield "start with nice", Program(USE + "print(os.nice(0))\n", ("nice", "-n", "5", "{python}", "{script}"))
    yield (
        "start in a pty",
        Program(
            "import pty; print(os.waitstatus_to_exitcode(pty.spawn([sys.executable, '-c', 'print(open(0).isatty(), 1); import torch; torch.zeros(1).item(); raise SystemExit(4)'])))\n"
        ),
    )


def _endings() -> Iterator[tuple[str, Program]]:
    for value in ("0", "1", "3", "255", "256", "-1", "'text'", "None", "2.5", "(1, 2)"):
        yield f"exit {value}", Program(USE + f"sys.exit({value})\n")
    for name, source in {
        "os._exit": "os._exit(7)\n",
        "an exception": "def f():\n    raise ValueError('on purpose')\nf()\n",
        "a chain of exceptions": "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    raise KeyError('k') from error\n",
        "a group of exceptions": "raise ExceptionGroup('g', [ValueError(1), TypeError(2)]) if sys.version_info > (3, 11) else 1\n",
        "a syntax error": "import broken\n",
        "an interrupt": "raise KeyboardInterrupt\n",
        "an abort": "os.abort()\n",
        "a segmentation fault": "import ctypes; ctypes.string_at(0)\n",
        "a segmentation fault that faulthandler shows": "import ctypes, faulthandler; faulthandler.enable(); ctypes.string_at(0)\n",
        "an exit handler that raises": "atexit.register(lambda: 1 / 0)\n",
        "exit handlers": "for n in range(5): atexit.register(print, n)\n",
        "an exit handler that exits": "atexit.register(os._exit, 9)\n",
        "an exit handler that reads": "atexit.register(lambda: print(t.item() * 0))\n",
        "a hook for exceptions": "sys.excepthook = lambda *a: print('mine', a[0])\n1 / 0\n",
        "a hook that fails": "sys.excepthook = lambda *a: 1 / 0\nraise KeyError\n",
        "a hook for what cannot be raised": "sys.unraisablehook = lambda a: print('mine', a.exc_type)\nclass A:\n    def __del__(self): 1 / 0\nA()\n",
        "what cannot be raised": "class A:\n    def __del__(self): 1 / 0\nA()\n",
        "a finaliser": "import weakref\nclass A: pass\na = A()\nweakref.finalize(a, print, 'gone')\n",
        "a destructor at the end": "class A:\n    def __del__(self): print('end')\na = A()\n",
        "a thread": "import threading\nthreading.Thread(target=lambda: print(t.item() * 0)).start()\n",
        "a thread that raises": "import threading\nx = threading.Thread(target=lambda: 1 / 0); x.start(); x.join()\n",
        "a thread that exits": "import threading\nx = threading.Thread(target=sys.exit); x.start(); x.join(); print(1)\n",
        "a daemon thread": "import threading, time\nthreading.Thread(target=time.sleep, args=(100,), daemon=True).start()\n",
        "a daemon thread that reads": "import threading\ndef f():\n    while True: t.item()\nthreading.Thread(target=f, daemon=True).start()\nt.item()\n",
        "a pool of threads": "from concurrent.futures import ThreadPoolExecutor\np = ThreadPoolExecutor(2)\nprint(list(p.map(lambda n: n + t.item() * 0, range(4))))\n",
        "a timer": "import threading\nthreading.Timer(0.05, print, ['late']).start()\n",
        "a local of threads": "import threading\nl = threading.local(); l.x = 1\nprint(vars(l))\n",
        "unflushed output": "sys.stdout.write('no end of line')\nos._exit(0)\n",
        "a closed output": "print(1); sys.stdout.close()\n",
        "a descriptor that is closed": "os.close(1)\nprint(1)\n",
        "an asyncio loop": "import asyncio\nasync def f():\n    await asyncio.sleep(0)\n    t.item()\n    raise SystemExit(5)\nasyncio.run(f())\n",
        "an asyncio task that is never awaited": "import asyncio\nasync def f(): pass\nf()\n",
        "a warning": "import warnings\ndef f(): warnings.warn('mine', stacklevel=2)\nf()\nf()\n",
        "a warning that is an error": "import warnings\nwarnings.simplefilter('error')\nwarnings.warn('mine')\n",
        "a recursion": "def f(): f()\nf()\n",
        "a recursion that is caught": "def f(n):\n    try: return f(n + 1)\n    except RecursionError: return n\nprint(f(0))\n",
        "out of memory": "try: bytearray(1 << 60)\nexcept MemoryError: print('no memory')\n",
        "garbage": "import gc\na = []; a.append(a); del a\nprint(gc.collect() >= 0, gc.garbage)\n",
        "an input that ends": "print(input())\n",
    }.items():
        files = {"broken.py": "def f(:\n"} if name == "a syntax error" else {}
        yield f"end by {name}", Program(USE + source, files=files)
    yield (
        "end of a pipe",
        Program(USE + "for n in range(100000): print(n)\n", ("sh", "-c", "{python} {script} | head -1")),
    )


def _signals() -> Iterator[tuple[str, Program]]:
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
        "a timer that raises to the end": "signal.setitimer(signal.ITIMER_REAL, 0.02)\nsignal.signal(signal.SIGALRM, signal.default_int_handler)\nwhile True:\n    t.item()\n",
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


def _processes() -> Iterator[tuple[str, Program]]:
    child = (
        "[sys.executable, '-c', 'import sys, torch; torch.zeros(1); print(sys.argv[1:]); sys.exit(6)', 'a']"
    )
    for name, source in {
        "fork": "if not os.fork():\n    print('child', flush=True); os._exit(3)\nprint(os.wait()[1])\n",
        "fork before torch is used": "pid = os.fork()\nt2 = torch.zeros(1)\nif pid: os.wait()\nprint(pid == 0, flush=True)\n",
        "forks in a row": "for n in range(5):\n    if not os.fork(): os._exit(n)\nprint(sorted(os.wait()[1] for _ in range(5)))\n",
        "a fork that ends as a program does": "pid = os.fork()\nif pid: print(os.waitpid(pid, 0)[1])\nelse: sys.exit(2)\n",
        "a fork that raises": "pid = os.fork()\nif pid: os.wait()\nelse: 1 / 0\n",
        "fork handlers": "os.register_at_fork(before=lambda: print('before', flush=True), after_in_parent=lambda: print('parent', flush=True), after_in_child=lambda: None)\nif not os.fork(): os._exit(0)\nos.wait()\n",
        "forkpty": "import pty\npid, fd = pty.fork()\nif not pid: print('in a pty'); os._exit(0)\nprint(os.read(fd, 100)); os.wait()\n",
        "a daemon": "if not os.fork():\n    os.setsid()\n    if not os.fork():\n        open('daemon', 'w').write('x'); os._exit(0)\n    os.wait(); os._exit(0)\nos.wait()\n",
        "a session of its own": "if not os.fork(): os.setsid(); print(os.getsid(0) == os.getpid()); sys.stdout.flush(); os._exit(0)\nos.wait()\n",
        "a group of its own": "os.setpgid(0, 0)\nprint(os.getpgrp() == os.getpid())\n",
        "subprocess": f"import subprocess\nprint(subprocess.run({child}, capture_output=True))\n",
        "subprocess through a shell": "import subprocess\nprint(subprocess.run('exit 5', shell=True).returncode)\n",
        "a pipeline": "import subprocess\na = subprocess.Popen(['echo', 'x'], stdout=subprocess.PIPE)\nprint(subprocess.check_output(['cat'], stdin=a.stdout)); a.wait()\n",
        "a child that is killed": "import subprocess\ntry: subprocess.run(['sleep', '100'], timeout=0.1)\nexcept subprocess.TimeoutExpired as e: print(e.cmd)\n",
        "a child without environment": "import subprocess\nprint(subprocess.run([sys.executable, '-c', 'import os; print(sorted(os.environ))'], env={}, capture_output=True).stdout)\n",
        "system": "print(os.system('exit 3'))\n",
        "popen": "print(os.popen('echo hi').read())\n",
        "execv": f"c = {child}\nos.execv(c[0], c)\n",
        "execve": f"c = {child}\nos.execve(c[0], c, dict(os.environ, X='1'))\n",
        "execvp of another program": "os.execvp('echo', ['echo', 'x'])\n",
        "execl": "os.execl('/bin/sh', 'sh', '-c', 'exit 4')\n",
        "an exec that fails": "try: os.execv('/none', ['x'])\nexcept OSError as e: print(e)\n",
        "exec with closed descriptors": f"os.closerange(3, 256)\nc = {child}\nos.execv(c[0], c)\n",
        "spawnv": f"c = {child}\nprint(os.spawnv(os.P_WAIT, c[0], c))\n",
        "posix_spawn": f"c = {child}\nprint(os.waitpid(os.posix_spawn(c[0], c, os.environ), 0)[1])\n",
        "vfork and a pipe": "import subprocess\np = subprocess.Popen(['cat'], stdin=-1, stdout=-1)\nprint(p.communicate(b'abc'))\n",
        "a thread that forks": "import threading\ndef f():\n    if not os.fork(): os._exit(0)\n    os.wait()\nx = threading.Thread(target=f); x.start(); x.join(); print(1)\n",
        "wait for all": "import subprocess\np = subprocess.Popen(['true'])\nprint(os.wait3(0)[1])\ntry: os.wait()\nexcept ChildProcessError as e: print(e)\n",
        "no children left": "try: os.wait()\nexcept ChildProcessError as e: print(e)\n",
        "who is the parent": "print(os.getppid() != 0, os.getpgrp() == os.getpgid(0))\n",
    }.items():
        yield f"processes: {name}", Program(USE + source)
    for method in ("fork", "spawn", "forkserver"):
        body = f"import multiprocessing as mp\ndef f(n):\n    import torch\n    return n * 2\nif __name__ == '__main__':\n    with mp.get_context('{method}').Pool(2) as pool: print(pool.map(f, range(4)))\n"
        yield f"processes: a pool by {method}", Program(body)
        body = f"import multiprocessing as mp\ndef f():\n    import torch\n    sys.exit(3)\nif __name__ == '__main__':\n    p = mp.get_context('{method}').Process(target=f); p.start(); p.join(); print(p.exitcode)\n"
        yield f"processes: a process by {method}", Program(body)
    yield (
        "processes: an executor",
        Program(
            "from concurrent.futures import ProcessPoolExecutor as P\nif __name__ == '__main__':\n    with P(2) as p: print(list(p.map(abs, [-1, 2])))\n"
        ),
    )
    yield (
        "processes: shared memory",
        Program(
            "from multiprocessing.shared_memory import SharedMemory as S\nif __name__ == '__main__':\n    s = S(create=True, size=8); s.buf[0] = 1; print(s.buf[0]); s.close(); s.unlink()\n"
        ),
    )


def _limits() -> Iterator[tuple[str, Program]]:
    limit = "import resource\nresource.setrlimit(resource.RLIMIT_{}, ({}, resource.getrlimit(resource.RLIMIT_{})[1]))\n"
    for kind, values in {
        "NOFILE": (3, 8, 64),
        "FSIZE": (0, 1000),
        "CORE": (0,),
        "AS": (1 << 33,),
        "STACK": (1 << 20,),
        "NPROC": (1, 50),
        "CPU": (60,),
    }.items():
        for value in values:
            told = limit.format(kind, value, kind)
            yield (
                f"limit {kind} {value}",
                Program(told + USE + "print(1)\n", state=kind not in {"NOFILE", "FSIZE"}),
            )
            yield (
                f"limit {kind} {value} after torch",
                Program(USE + told + "t.item()\nprint(1)\n", state=kind not in {"NOFILE", "FSIZE"}),
            )
    for depth in (60, 120, 500, 5000):
        yield (
            f"limit of recursion {depth}",
            Program(
                USE
                + f"sys.setrecursionlimit({depth})\ndef f(n):\n    return n if n == 0 else f(n - 1)\nprint(f({depth} - 45))\nt.item()\nsys.setrecursionlimit(1000)\n"
            ),
        )


def _files() -> Iterator[tuple[str, Program]]:
    for name, source in {
        "descriptors": "print(sorted(map(int, os.listdir('/proc/self/fd'))))\n",
        "the next descriptor": "print(os.open('x', os.O_CREAT | os.O_RDWR))\n",
        "all closed": "os.closerange(3, 1000)\nt.item()\nprint(os.open('x', os.O_CREAT))\n",
        "dup2 over many": "for n in range(3, 60): os.dup2(1, n)\nt.item()\nprint(1)\n",
        "a folder that is gone": "os.mkdir('d'); os.chdir('d'); os.rmdir('../d')\nt.item()\ntry: print(os.getcwd())\nexcept OSError as e: print(e)\nos.chdir('/')\n",
        "another folder": "os.chdir('/')\nt.item()\n",
        "files of a folder": "import tempfile\nwith tempfile.TemporaryDirectory() as d: print(os.listdir(d))\n",
        "the folder for temporary files": "import tempfile\nprint(tempfile.gettempdir())\n",
        "umask": "os.umask(0o077); open('x', 'w').close(); print(oct(os.stat('x').st_mode)); os.umask(0o22)\n",
        "locks": "import fcntl\nf = open('x', 'w'); fcntl.flock(f, fcntl.LOCK_EX); print(fcntl.lockf(f, fcntl.LOCK_SH))\n",
        "a database": "import sqlite3\nd = sqlite3.connect('x.db'); d.execute('create table t (a)'); d.commit(); print(d.execute('select * from t').fetchall()); d.close()\n",
        "sockets": "import socket\na, b = socket.socketpair(); a.send(b'x'); print(b.recv(1), a.fileno() > 2); a.close(); b.close()\n",
        "epoll": "import select\ne = select.epoll(); print(e.poll(0)); e.close()\n",
        "memory that is mapped": "import mmap\nm = mmap.mmap(-1, 10); m[0] = 1; print(m[0])\n",
        "a log": "import logging\nlogging.basicConfig(filename='log', format='%(levelname)s %(message)s %(threadName)s'); logging.warning('x')\n",
        "a module that is written": "open('new.py', 'w').write('x = 1')\nsys.path.insert(0, '.')\nimport new; print(new.x)\n",
        "bytecode": "sys.path.insert(0, '.')\nimport helper; print(sorted(os.listdir('.')))\n",
    }.items():
        yield (
            f"files: {name}",
            Program(USE + source, files={"helper.py": "x = 1\n"} if name == "bytecode" else {}),
        )


def _tools() -> Iterator[tuple[str, Program]]:
    body = USE + "def f(x):\n    y = x + 1\n    return y\nprint(f(1))\n"
    for name, command, stdin in [
        ("pdb", ("-m", "pdb", "{script}"), "b f\nc\nn\np x\nw\nc\nq\n"),
        ("cProfile", ("-m", "cProfile", "-o", "/dev/null", "{script}"), ""),
        ("timeit", ("-m", "timeit", "-n1", "-r1", "-u", "sec", "-s", "import torch", "pass # {script}"), ""),
        ("py_compile", ("-m", "py_compile", "{script}"), ""),
        ("dis", ("-m", "dis", "{script}"), ""),
        ("ast", ("-m", "ast", "{script}"), ""),
        ("unittest", ("-m", "unittest", "-q", "cases"), ""),
        ("doctest", ("-m", "doctest", "{script}"), ""),
        ("compileall", ("-m", "compileall", "-q", "."), ""),
        ("code", ("-m", "code", "-q"), "import torch\ntorch.zeros(1) and 1\n"),
        ("runpy", ("-m", "runpy", "cases"), ""),
    ]:
        state = name not in {"timeit", "py_compile", "dis", "ast", "compileall", "code", "unittest", "runpy"}
        cases = "import torch, unittest\nclass T(unittest.TestCase):\n    def test_a(self): torch.zeros(1)\n"
        stdout_differs = name == "timeit"
        if not stdout_differs:
            yield (
                f"tool {name}",
                Program(body, ("{python}", *command), stdin, files={"cases.py": cases}, state=state),
            )
    for name, source in {
        "breakpoint": "breakpoint()\n",
        "settrace": "calls = []\nsys.settrace(lambda f, e, a: calls.append(f.f_code.co_name))\ndef f(): pass\nf()\nsys.settrace(None)\nprint(calls)\n",
        "setprofile": "calls = []\nsys.setprofile(lambda f, e, a: calls.append((f.f_code.co_name, e)))\ndef f(): pass\nf()\nsys.setprofile(None)\nprint(calls)\n",
        "faulthandler": "import faulthandler\nfaulthandler.dump_traceback(all_threads=False)\n",
        "tracemalloc": "import tracemalloc\ntracemalloc.start(); a = [0] * 1000; print(tracemalloc.is_tracing()); tracemalloc.stop()\n",
        "gc": "import gc\ngc.set_debug(0); print(gc.get_count()[2] >= 0, gc.isenabled(), gc.get_threshold())\n",
        "an import hook": "class F:\n    @staticmethod\n    def find_spec(n, p=None, t=None): print('find', n)\nsys.meta_path.insert(0, F)\nimport json.tool\nsys.meta_path.remove(F)\n",
        "an audit hook": "seen = set()\nsys.addaudithook(lambda e, a: seen.add(e))\nopen('x', 'w').close()\nprint('open' in seen)\n",
        "monitoring": "m = getattr(sys, 'monitoring', None)\nprint([m.get_tool(n) for n in range(6)] if m else 0)\n",
        "warnings that are recorded": "import warnings\nwith warnings.catch_warnings(record=True) as w:\n    warnings.simplefilter('always'); t.item(); warnings.warn('x')\nprint([str(i.message) for i in w])\n",
    }.items():
        yield f"tool {name}", Program(USE + source, stdin="w\nq\n" if name == "breakpoint" else "")


def _looks() -> Iterator[tuple[str, Program]]:
    for name, source in {
        "modules": "print(sorted(n for n in sys.modules if 'syncscan' not in n and n not in sys.builtin_module_names and '.' not in n and n[0] != '_')[:0])\n",
        "path": "print(sys.path, sys.prefix, sys.executable)\n",
        "threads": "import threading\nprint(threading.enumerate(), threading.active_count(), threading.main_thread())\n",
        "stack": "import inspect\ndef f(): return [i.function for i in inspect.stack()]\nprint(f())\n",
        "spec of torch": "print(torch.__spec__.name, torch.__name__, type(torch.__loader__))\n",
        "spec of main": "print(__spec__, __name__, __builtins__, __loader__.__class__)\n",
        "annotations": "x: int = 1\nprint(__annotations__)\n",
        "reload": "import importlib, json\nprint(importlib.reload(json).__name__)\n",
        "resources": "import resource\nprint(resource.getrlimit(resource.RLIMIT_NOFILE))\n",
        "users": "print(os.getuid(), os.getgroups())\n",
        "exec": "exec('y = 1'); print(y, eval('y + 1'), compile('1', 'x', 'eval').co_filename)\n",
        "functions of os": "print(os._exit, os.execv, os.fork, os._exit.__name__)\n",
        "pickles": "import pickle\nprint(pickle.loads(pickle.dumps(os._exit)) is os._exit)\n",
        "context": "import contextvars\nprint(len(contextvars.copy_context()))\n",
        "hash": "print(hash(1), sys.hash_info.width)\n",
        "encodings": "print(sys.stdout.encoding, sys.getfilesystemencoding(), sys.stdout.errors, sys.stdout.line_buffering)\n",
        "site": "import site\nprint(site.ENABLE_USER_SITE, site.getsitepackages()[:1])\n",
        "tty": "print(os.isatty(0), os.isatty(1), os.isatty(2))\n",
        "sitecustomize": "print('sitecustomize' in sys.modules, 'usercustomize' in sys.modules)\n",
        "profile of a frame": "f = sys._getframe()\nprint(f.f_code.co_name, f.f_back, f.f_trace)\n",
        "scheduling": "print(os.sched_getaffinity(0) == os.sched_getaffinity(os.getpid()), os.getpriority(0, 0))\n",
    }.items():
        yield f"look at {name}", Program(USE + source)
    yield (
        "look at modules before torch",
        Program("print(sorted(n for n in sys.modules if 'syncscan' not in n and n != 'sitecustomize'))\n"),
    )


_ON_OTHERS = ("exit 3", "end by an exception", "end by exit handlers", "end by a daemon thread", "start -Werror with torch", "end by a recursion", "signals: a timer that raises to the end", "SIGTERM, default", "processes: fork", "processes: a pool by spawn", "processes: execv", "files: all closed", "tool settrace", "look at threads", "look at modules before torch")  # fmt: skip


def _on_other_pythons(found: dict[str, Program]) -> Iterator[tuple[str, Program]]:
    for version in ("3.9", "3.10", "3.12", "3.13"):
        for name in _ON_OTHERS:
            if (version, name) == ("3.9", "signals: a timer that raises to the end"):
                continue  # lost there, see docs/reliability.md: it would never end
            program = found[name]
            yield f"{name} on {version}", Program(**(vars(program) | {"version": version}))

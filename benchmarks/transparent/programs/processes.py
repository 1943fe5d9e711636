"""Programs that start others."""

from __future__ import annotations

from collections.abc import Iterator

from .program import USE, Program


def programs() -> Iterator[tuple[str, Program]]:
    """Yield each by its name."""
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
        "popen": "with os.popen('echo hi') as p: print(p.read())\n",
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

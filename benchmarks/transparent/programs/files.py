"""Programs that look after descriptors, files and folders."""

from __future__ import annotations

from collections.abc import Iterator

from .program import USE, Program


def programs() -> Iterator[tuple[str, Program]]:
    """Yield each by its name."""
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
    for moment in ("before", "after"):
        gone = "import shutil, tempfile\nshutil.rmtree(tempfile.gettempdir()); print(os.path.exists('tmp'))\n"
        yield (
            f"files: a folder for temporary files that vanishes {moment} torch",
            Program(
                gone + USE if moment == "before" else USE + gone + "for _ in range(3): t.item()\n",
                variables={"TMPDIR": "tmp"},
                files={"tmp/mine": ""},
            ),
        )

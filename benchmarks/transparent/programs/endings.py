"""Programs that end: by a status, an exception, a thread, at a bad moment."""

from __future__ import annotations

from collections.abc import Iterator

from .program import USE, Program


def programs() -> Iterator[tuple[str, Program]]:
    """Yield each by its name."""
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

"""Programs that look at themselves."""

from __future__ import annotations

from collections.abc import Iterator

from .program import USE, Program


def programs() -> Iterator[tuple[str, Program]]:
    """Yield each by its name."""
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

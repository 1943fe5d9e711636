"""Programs under tools of Python, and that are tools."""

from __future__ import annotations

from collections.abc import Iterator

from .program import USE, Program

COVERED = (
    "{python} -m coverage run --data-file=covered.db {script}"
    " && {python} -m coverage report --data-file=covered.db --include={script} --show-missing"
)


def programs() -> Iterator[tuple[str, Program]]:
    """Yield each by its name."""
    body = USE + "def f(x):\n    y = x + 1\n    return y\nprint(f(1))\n"
    for name, command, stdin in [
        ("pdb", ("-m", "pdb", "{script}"), "b f\nc\nn\np x\nw\nc\nq\n"),
        ("cProfile", ("-m", "cProfile", "-o", "/dev/null", "{script}"), ""),
        ("py_compile", ("-m", "py_compile", "{script}"), ""),
        ("dis", ("-m", "dis", "{script}"), ""),
        ("ast", ("-m", "ast", "{script}"), ""),
        ("unittest", ("-m", "unittest", "-q", "cases"), ""),
        ("doctest", ("-m", "doctest", "{script}"), ""),
        ("compileall", ("-m", "compileall", "-q", "."), ""),
        ("code", ("-m", "code", "-q"), "import torch\ntorch.zeros(1) and 1\n"),
        ("runpy", ("-m", "runpy", "cases"), ""),
    ]:
        state = name not in {"py_compile", "dis", "ast", "compileall", "code", "unittest", "runpy"}
        cases = "import torch, unittest\nclass T(unittest.TestCase):\n    def test_a(self): torch.zeros(1)\n"
        yield (
            f"tool {name}",
            Program(body, ("{python}", *command), stdin, files={"cases.py": cases}, state=state),
        )
    yield "tool coverage", Program(body, ("sh", "-c", COVERED))
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

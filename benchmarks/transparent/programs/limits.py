"""Programs with few resources."""

from __future__ import annotations

from collections.abc import Iterator

from .program import USE, Program


def programs() -> Iterator[tuple[str, Program]]:
    """Yield each by its name."""
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

"""Programs that are started in many ways."""

from __future__ import annotations

from collections.abc import Iterator

from .program import STATE, USE, Program

FLAGS = (
    "-O", "-OO", "-B", "-E", "-I", "-S", "-s", "-u", "-b", "-bb", "-q", "-Werror", "-Wignore", "-Walways", "-Wdefault",
    "-Xdev", "-Xutf8", "-Xfaulthandler", "-Xtracemalloc", "-Xint_max_str_digits=0", "-P",
)  # fmt: skip
ISOLATED = ("-E", "-I", "-S", "-P")  # these find no stand-in of CUDA
VARIABLES = {
    "PYTHONDONTWRITEBYTECODE": "1", "PYTHONOPTIMIZE": "2", "PYTHONWARNINGS": "error", "PYTHONUNBUFFERED": "1",
    "PYTHONHASHSEED": "0", "PYTHONUTF8": "1", "PYTHONIOENCODING": "latin-1", "PYTHONSAFEPATH": "1", "PYTHONDEVMODE": "1",
    "PYTHONFAULTHANDLER": "1", "PYTHONTRACEMALLOC": "1", "PYTHONINTMAXSTRDIGITS": "0", "PYTHONNOUSERSITE": "1",
    "PYTHONASYNCIODEBUG": "1", "PYTHONMALLOC": "debug", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "TMPDIR": "/nonexistent",
    "HOME": "/nonexistent", "PYTHONPYCACHEPREFIX": "cache",
}  # fmt: skip
HASH = "print(sys.flags, hash('a') if sys.flags.hash_randomization == 0 else 0)\n"
ONE_LINE = (
    "import os, sys\nDEVICE = os.environ.get('DEVICE', 'cuda')\n"
    + USE
    + "print(sys.argv, __file__ if '__file__' in globals() else 0)"
)
OF_A_PACKAGE = STATE + USE + "print(sys.argv[1:], __spec__.name, __package__)\n"
IN_A_PTY = "import pty; print(os.waitstatus_to_exitcode(pty.spawn([sys.executable, '-c', 'print(open(0).isatty(), 1); import torch; torch.zeros(1).item(); raise SystemExit(4)'])))\n"


def _in_a_shell(command: str) -> tuple[str, ...]:
    return ("sh", "-c", command)


# By the name: how they are started, and what they do after the use of torch.
COMMANDS: dict[str, tuple[tuple[str, ...], str]] = {
    "through env": (("env", "{python}", "{script}"), "print(1)\n"),
    "through sh": (_in_a_shell("{python} {script} a 'b c'; echo $?"), "print(sys.argv)\n"),
    "with closed input": (_in_a_shell("exec {python} {script} <&-"), "print(sys.stdin)\n"),
    "with closed output": (
        _in_a_shell("exec {python} {script} >&-"),
        "print(sys.stdout, file=sys.stderr)\n",
    ),
    "with closed errors": (_in_a_shell("exec {python} {script} 2>&-"), "print(sys.stderr)\n"),
    "with all closed": (
        _in_a_shell("exec {python} {script} <&- >&- 2>&-"),
        "open('mine', 'w').write('x')\n",
    ),
    "with a full output": (_in_a_shell("exec {python} {script} >/dev/full"), "print('x' * 100000)\n"),
    "with an extra descriptor": (
        _in_a_shell("echo hello >f; exec {python} {script} 9<f"),
        "print(os.read(9, 5))\n",
    ),
    "with nohup": (("nohup", "{python}", "{script}"), "import signal; print(signal.getsignal(1))\n"),
    "with nice": (("nice", "-n", "5", "{python}", "{script}"), "print(os.nice(0))\n"),
}
OTHERS = {
    "-c": Program("", ("{python}", "-c", ONE_LINE), state=False),
    "from standard input": Program("", ("{python}", "-"), stdin=STATE + USE + "print(sys.argv)\n"),
    "-m": Program(
        "",
        ("{python}", "-m", "package.tool", "x"),
        files={"package/__init__.py": "", "package/tool.py": OF_A_PACKAGE},
    ),
    "a folder": Program(
        "", ("{python}", "app"), files={"app/__main__.py": STATE + USE + "print(__name__, __spec__)\n"}
    ),
    "without environment": Program("print(sorted(os.environ))\n", ("env", "-i", "{python}", "{script}")),
    "in a pty": Program(IN_A_PTY),
}


def programs() -> Iterator[tuple[str, Program]]:
    """Yield each by its name."""
    for flag in FLAGS:
        command = ("{python}", flag, "{script}")
        yield f"start {flag}", Program("print(sys.flags)\n", command)
        if flag not in ISOLATED:
            yield f"start {flag} with torch", Program(USE + "print(sys.flags)\n", command)
    for name, value in VARIABLES.items():
        yield f"variable {name}", Program(USE + HASH, variables={name: value})
    for name, (command, source) in COMMANDS.items():
        yield f"start {name}", Program(USE + source, command)
    for name, program in OTHERS.items():
        yield f"start {name}", program

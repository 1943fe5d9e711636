"""The findings are a function of the source alone: not of names, nor of the order of files and functions."""

from __future__ import annotations

import itertools
import textwrap

import pytest

from syncscan.check.infer.solve.solver import Solver
from syncscan.check.infer.source.indexer import index_module
from syncscan.check.infer.source.lines import Lines
from syncscan.check.infer.source.trees import tree_of
from syncscan.model import Conventions
from syncscan.ops import load_table

IMPORT = "import torch\n"
BOX = IMPORT + textwrap.dedent(
    """
    class Box:
        def __init__(self, device="cuda"):
            self.x = torch.zeros(3, device=device)

        def read(self):
            return self.x.sum().item()
    """
)
# Programs of files "one" and "two", which name each other so, and whether anything in them waits.
PROGRAMS = {
    "passes the host": ({"one": BOX, "two": "from one import Box\nBox('cpu').read()\n"}, False),
    "leaves the default out": ({"one": BOX, "two": "from one import Box\nBox().read()\n"}, True),
    "nobody calls": ({"one": BOX, "two": "from one import Box\n"}, True),
    "host and default": ({"one": BOX, "two": "from one import Box\nBox('cpu').read()\nBox().read()\n"}, True),
    "a function passes the host": (
        {
            "one": IMPORT + "def f(x):\n    return x.item()\n",
            "two": IMPORT + "from one import f\nf(torch.zeros(1))\n",
        },
        False,
    ),
    "one of two callers passes the GPU": (
        {
            "one": IMPORT + "def f(x, y=1):\n    return x.item()\n",
            "two": IMPORT + "from one import f\nf(torch.zeros(1))\nf(torch.zeros(1, device='cuda'))\n",
        },
        True,
    ),
    "a name says host and paths differ": (
        {
            "one": IMPORT + "class A:\n    def __init__(self, x):\n        self.n_cpu = x\n    def f(self):\n        return self.n_cpu.item()\n",
            "two": IMPORT + "from one import A\nA(torch.zeros(1, device='cuda')).f()\nA(torch.zeros(1)).f()\n",
        },
        False,
    ),
    "operands share a device": (
        {
            "one": IMPORT + "def f(x, y):\n    return (x + y).item()\n",
            "two": IMPORT + "from one import f\nz = torch.zeros(1)\nf(z, f(z, z))\n",
        },
        False,
    ),
}  # fmt: skip


def waiting(files: dict[str, str]) -> set[tuple[str, int]]:
    """Return the modules and lines at which a GPU value reaches a place that may block."""
    modules = [
        index_module(name, f"{name}.py", tree_of(text), Lines(text), is_package=False)
        for name, text in files.items()
    ]
    solver = Solver(modules, load_table(), Conventions())
    solver.solve(lambda *_: None)
    return {
        (function.module.name, line)
        for function in solver.functions()
        for (line, _), statement in solver.statements(function).items()
        if statement.blocks
    }


def renamed(files: dict[str, str], names: dict[str, str], order: tuple[str, ...]) -> dict[str, str]:
    """Return the files under other names, in an order."""
    texts = {}
    for file in order:
        text = files[file]
        for old, new in names.items():
            text = text.replace(f"from {old} import", f"from {new} import")
        texts[names[file]] = text
    return texts


NAMES = [("a_lib", "z_main"), ("z_lib", "a_main"), ("one", "two")]


@pytest.mark.parametrize("title", PROGRAMS)
def test_neither_names_nor_order_of_files_count(title: str) -> None:
    files, waits = PROGRAMS[title]
    for new, order in itertools.product(NAMES, itertools.permutations(files)):
        names = dict(zip(files, new, strict=True))
        back = {value: key for key, value in names.items()}
        found = {(back[module], line) for module, line in waiting(renamed(files, names, order))}
        assert bool(found) is waits, (names, order)
        assert {module for module, _ in found} <= {"one"}


FUNCTIONS = [
    "def make(device='cuda'):\n    return torch.zeros(1, device=device)\n",
    "def show(x):\n    return x.item()\n",
    "def both(x, y):\n    return show(x + y)\n",
    "def main():\n    both(make('cpu'), make('cpu'))\n    show(turn(make('cpu'), 3))\n",
    "def turn(x, n):\n    return turn(x * 2, n - 1) if n else x\n",
]


def test_the_order_of_functions_does_not_count() -> None:
    results = {
        bool(waiting({"m": IMPORT + "".join(order) + caller}))
        for order in itertools.permutations(FUNCTIONS)
        for caller in ("main()\n",)
    }
    assert results == {False}


@pytest.mark.parametrize("length", range(2, 21))
@pytest.mark.parametrize("loop", ["for _ in range(n):", "while n:"])
def test_a_value_that_moves_on_by_one_variable_a_round_is_followed(length: int, loop: str) -> None:
    names = [f"v{number}" for number in range(length)]
    start = " = ".join(names)
    text = f"def f(n):\n    x = torch.zeros(1, device='cuda')\n    {start} = None\n    {loop}\n"
    text += (
        f"        {', '.join(names[::-1])} = {', '.join([*names[-2::-1], 'x'])}\n        {names[-1]}.item()\n"
    )
    assert waiting({"m": IMPORT + text}) == {("m", 7)}

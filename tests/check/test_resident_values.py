"""Values and texts after an edit, where it is not enough to solve the edited functions again."""

from __future__ import annotations

from syncscan.check.engine import Engine
from syncscan.model import Conventions
from tests.check.changing import asked, source


def of_any_function(body: str) -> str:
    """Return a program in which `make` may call any of eight functions; the inference finds them one at a time."""
    functions = []
    for n in range(8):
        functions.append(f"def made{n}_0():\n    return lambda x: torch.zeros(x, device='cuda')\n")
        functions += [f"def made{n}_{k}():\n    return made{n}_{k - 1}()\n" for k in range(1, n + 1)]
    calls = "".join(f"    make(made{n}_{n}(), {n})\n" for n in range(8))
    rest = f"def make(function, n):\n{body}    return function(n)\n\ndef use():\n{calls}    return make(None, 3).tolist()\n"
    return "import torch\n\n" + "\n".join([*functions, rest])


def test_a_call_of_what_may_be_any_function_is_worked_out_as_by_a_new_engine() -> None:
    old, new = ({"program": source("program", of_any_function(body))} for body in ("", "    print(n)\n"))
    engine = Engine(Conventions())
    before, _ = asked(engine, old)
    again, _ = asked(engine, new)
    assert again == asked(Engine(Conventions()), new)[0]
    assert len(again.findings) == len(before.findings) == 1


def test_an_edit_is_followed_past_a_call_of_what_may_be_any_function() -> None:
    """All functions are known before the call is worked out: it keeps nothing of the first ones."""
    functions = "".join(f"def made{n}(x):\n    return torch.zeros(x, device='cuda')\n\n" for n in range(8))
    calls = "".join(f"    make(made{n}, size())\n" for n in range(8))
    text = f"import torch\n\n{functions}def make(function, n):\n    function(n)\n    return torch.ones(3, device='cuda')[n].item()\n\n"
    text += f"def size():\n    return SIZE\n\ndef use():\n{calls}"
    engine = Engine(Conventions())
    found = []
    for size in ("3", "torch.zeros(3, dtype=torch.long, device='cuda').sum()"):
        files = {"program": source("program", text.replace("SIZE", size))}
        again, stages = asked(engine, files)
        assert again == asked(Engine(Conventions()), files)[0]
        found.append([each.code for each in again.findings])
    assert found == [["SYN101"], ["SYN101", "SYN106"]]
    assert "read" not in stages  # the edit alone was analysed


def test_what_a_suggestion_says_does_not_depend_on_lines_that_move() -> None:
    text = "import torch\nSPACE\non_gpu = torch.zeros(4, device='cuda')\n\ndef read(n):\n    rows = torch.arange(n)\n    return on_gpu[rows]\n"
    engine = Engine(Conventions())
    old, new = (
        {"program": source("program", text.replace("SPACE", space))} for space in ("", "# one\n# two")
    )
    assert len(asked(engine, old)[0].findings) == 1
    assert asked(engine, new)[0] == asked(Engine(Conventions()), new)[0]


def test_an_annotation_of_another_file_is_believed_as_long_as_it_stands() -> None:
    batch = "import torch\n\nclass Batch:\n    size: {}\n    model: {}\n"
    reader = (
        "import torch\nfrom batch import Batch\n\ndef fill(batch: Batch):\n    batch.size = torch.ones(1, device='cuda').sum()\n\n"
        "def read(batch: Batch):\n    print(f'{batch.size}')\n    return batch.model.weight.sum().item()\n"
    )
    engine = Engine(Conventions())
    lines = []
    for types in (("int", "int"), ("object", "torch.nn.Linear"), ("int", "torch.nn.Linear"), ("int", "int")):
        files = {
            "batch": source("batch", batch.format(*types)),
            "reader": source("reader", reader),
        }
        found = asked(engine, files)[0].findings
        assert found == asked(Engine(Conventions()), files)[0].findings
        lines.append([each.line for each in found])
    assert lines == [[], [8, 9], [9], []]


def test_a_module_that_a_function_hands_on_earlier_now_is_no_longer_new() -> None:
    text = "import torch\n\ndef take(m):\n    m.to('cuda')\n\ndef run(keep):\n    m = torch.nn.Linear(3, 3)\n    keep.append(FIRST)\n    take(m)\n"
    engine = Engine(Conventions())
    found = []
    for first in ("keep", "m", "keep"):
        files = {"program": source("program", text.replace("FIRST", first))}
        again, _ = asked(engine, files)
        assert again == asked(Engine(Conventions()), files)[0]
        found.append([each.code for each in again.findings])
    assert found == [["SYN302"], [], ["SYN302"]]

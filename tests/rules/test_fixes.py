"""A fix leaves the layout around it as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from syncscan.check.engine import check_sources
from syncscan.check.files import Source
from syncscan.check.fix import apply_edits, fixable
from syncscan.config import Conventions

HEAD = 'import torch\nd = torch.device("cuda")\nx = torch.zeros(3, device=d)\n'
CASES = {
    "a wrapped call in parentheses": (
        """\
y = (
    torch.tensor(
        [1, 2],
        device=d,
    )
    .view(-1)
)
""",
        """\
y = (
    torch.tensor(
        [1, 2],
        device="cpu",
        pin_memory=True,
    ).to(d, non_blocking=True)
    .view(-1)
)
""",
    ),
    "comments between the arguments": (
        """\
y = torch.tensor([1],  # one
    device=d  # there
)
""",
        """\
y = torch.tensor([1],  # one
    device="cpu",
    pin_memory=True  # there
).to(d, non_blocking=True)
""",
    ),
    "parentheses around the call": (
        "y = (torch.tensor([1], device=d))\n",
        'y = (torch.tensor([1], device="cpu", pin_memory=True).to(d, non_blocking=True))\n',
    ),
    "a trailing comma": (
        "y = torch.tensor(\n    [1], device=d,\n)\n",
        'y = torch.tensor(\n    [1], device="cpu", pin_memory=True,\n).to(d, non_blocking=True)\n',
    ),
    "statements on one line": ("x[1] = 2; y = 1\n", "x[1].fill_(2); y = 1\n"),
    "a body on the line of its head": ("if d: x[1] = 3\n", "if d: x[1].fill_(3)\n"),
    "a comment at the end of the line": ("x[1] = 2  # begin\n", "x[1].fill_(2)  # begin\n"),
    "an operator around the call": (
        "y = -torch.tensor(1.0, device=d) ** 2\n",
        "y = -torch.full((), 1.0, device=d) ** 2\n",
    ),
    "an operator in the source of a copy": (
        "y = (torch.zeros(3) + 1).to(d)\n",
        "y = (torch.zeros(3) + 1).pin_memory().to(d, non_blocking=True)\n",
    ),
    "letters outside ASCII before the call": (
        'y = "ü", torch.tensor(1, device=d)\n',
        'y = "ü", torch.full((), 1, device=d)\n',
    ),
    "several targets, which no single call replaces": ("x[1] = x[2] = 4\n", "x[1] = x[2] = 4\n"),
    "an argument list that is unpacked": (
        "y = torch.tensor([1], device=d, **{})\n",
        "y = torch.tensor([1], device=d, **{})\n",
    ),
    "a name imported for itself": (
        "from torch import tensor\ny = tensor(1, device=d)\n",
        "from torch import tensor\ny = tensor(1, device=d)\n",
    ),
}


@pytest.mark.parametrize(("before", "after"), CASES.values(), ids=CASES.keys())
def test_a_fix_leaves_the_layout_as_it_was(before: str, after: str) -> None:
    text = HEAD + before
    source = Source(Path("example.py"), "example.py", "example", text)
    found = check_sources([source], None, Conventions(), lambda *_: None).findings
    assert found
    assert apply_edits(text, fixable(found, unsafe=True)) == HEAD + after

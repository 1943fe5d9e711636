"""A fix leaves the layout around it as it was."""

from __future__ import annotations

import pytest

from syncscan.check.fix import apply_edits, fixable
from tests.texts import check_texts

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
        pin_memory=torch.cuda.is_available(),
    ).to(d, non_blocking=True)
    .view(-1)
)
""",
    ),
    "comments between the arguments": (
        """\
y = torch.tensor([1, 2],  # one
    device=d  # there
)
""",
        """\
y = torch.tensor([1, 2],  # one
    device="cpu",
    pin_memory=torch.cuda.is_available()  # there
).to(d, non_blocking=True)
""",
    ),
    "parentheses around the call": (
        "y = (torch.tensor([1, 2], device=d))\n",
        'y = (torch.tensor([1, 2], device="cpu", pin_memory=torch.cuda.is_available()).to(d, non_blocking=True))\n',
    ),
    "a trailing comma": (
        "y = torch.tensor(\n    [1, 2], device=d,\n)\n",
        'y = torch.tensor(\n    [1, 2], device="cpu", pin_memory=torch.cuda.is_available(),\n).to(d, non_blocking=True)\n',
    ),
    "statements on one line": ("x[1] = 2; y = 1\n", "x[1].fill_(2); y = 1\n"),
    "a body on the line of its head": ("if d: x[1] = 3\n", "if d: x[1].fill_(3)\n"),
    "a comment at the end of the line": ("x[1] = 2  # begin\n", "x[1].fill_(2)  # begin\n"),
    "an operator around the call": (
        "y = -torch.tensor(1.0, device=d) ** 2\n",
        "y = -torch.full((), 1.0, device=d) ** 2\n",
    ),
    "an operator in the source of a copy": (
        "z = torch.rand(3)\ny = (z + 1).to('cuda')\n",
        "z = torch.rand(3)\ny = (z + 1).pin_memory().to('cuda', non_blocking=True)\n",
    ),
    "letters outside ASCII before the call": (
        'y = "ü", torch.tensor(1, device=d)\n',
        'y = "ü", torch.full((), 1, device=d)\n',
    ),
    "the device of a tensor, which says if it is on the GPU": (
        "y = torch.tensor([3, 4], device=x.device)\n",
        'y = torch.tensor([3, 4], device="cpu", pin_memory=x.is_cuda).to(x.device, non_blocking=True)\n',
    ),
    "lists that the function makes": (
        "def f(n: int):\n    sizes: list[int] = []\n    sizes.append(n)\n    return torch.tensor(sizes, device=d)\nf(3)\n",
        'def f(n: int):\n    sizes: list[int] = []\n    sizes.append(n)\n    return torch.tensor(sizes, device="cpu", pin_memory=torch.cuda.is_available()).to(d, non_blocking=True)\nf(3)\n',
    ),
    **{
        f"data that a caller may pass as an array: {line}": (
            text
            := f"def f(sizes: list[int], rows: list[list[int]], flag: bool):\n{line}\nf([3], [[3]], True)\n",
            text,
        )
        for line in (
            "    return torch.tensor(sizes, device=d), torch.tensor(sizes[1:], device=d)",
            "    ids = sizes\n    return torch.tensor(ids, device=d)",
            "    sizes = sizes or [1, 2]\n    return torch.tensor(sizes, device=d)",
            "    sizes = sizes[1:]\n    return torch.tensor(sizes, device=d)",
            "    return [torch.tensor(row, device=d) for row in rows]",
            "    return (lambda: torch.tensor(sizes, device=d))()",
            "    return torch.tensor(sizes * 2, device=d)",
            "    return torch.tensor(sizes if flag else [1, 2], device=d)",
            "    ids = [1, 2]\n    if flag:\n        ids = sizes\n    return torch.tensor(ids, device=d)",
        )
    },
    "a tensor that may be None, which says no device": (
        "def f(like: torch.Tensor | None):\n    return torch.tensor([4, 1]).to(like)\nf(x)\n",
        'def f(like: torch.Tensor | None):\n    return torch.tensor([4, 1], device="cpu", pin_memory=torch.cuda.is_available()).to(like, non_blocking=True)\nf(x)\n',
    ),
    "code for TorchScript, which takes other arguments": (
        "@torch.jit.script\ndef f(x: torch.Tensor):\n    return torch.tensor(True, device=x.device)\nf(x)\n",
        "@torch.jit.script\ndef f(x: torch.Tensor):\n    return torch.tensor(True, device=x.device)\nf(x)\n",
    ),
    "a traced function, which runs in Python": (
        "y = torch.jit.trace(f, x), torch.tensor(1, device=d)\n",
        "y = torch.jit.trace(f, x), torch.full((), 1, device=d)\n",
    ),
    "several targets, which no single call replaces": ("x[1] = x[2] = 4\n", "x[1] = x[2] = 4\n"),
    "an argument list that is unpacked": (
        "y = torch.tensor([1, 2], device=d, **{})\n",
        "y = torch.tensor([1, 2], device=d, **{})\n",
    ),
    "a name imported for itself": (
        "from torch import tensor\ny = tensor(1, device=d)\n",
        "from torch import tensor\ny = tensor(1, device=d)\n",
    ),
    "a number given by name": (
        "y = torch.tensor(data=0).to(d)\n",
        'y = torch.tensor(data=0, device="cpu", pin_memory=torch.cuda.is_available()).to(d, non_blocking=True)\n',
    ),
    "a comment that the fix would lose": (
        "y = (\n    torch.zeros(3)  # three\n    .to(d)\n)\n",
        "y = (\n    torch.zeros(3)  # three\n    .to(d)\n)\n",
    ),
    "an f-string, which has quotes of its own": (
        'y = f"{torch.zeros(3).cuda()}"\n',
        'y = f"{torch.zeros(3).cuda()}"\n',
    ),
    "a device that is named on the spot": (
        "y = torch.zeros(3).to(e := d)\n",
        "y = torch.zeros(3, device=(e := d))\n",
    ),
    "a method that is called as a function": (
        "y = torch.zeros(d.n)\nz = torch.Tensor.to(y.clone(), 'cuda', non_blocking=True)\n",
        "y = torch.zeros(d.n)\nz = torch.Tensor.to(y.clone().pin_memory(), 'cuda', non_blocking=True)\n",
    ),
    "a copy that is called as a function": (
        "y = torch.zeros(3)\ntorch.Tensor.copy_(x, torch.tensor([3]))\n",
        'y = torch.zeros(3)\ntorch.Tensor.copy_(x, torch.tensor([3], device="cpu", pin_memory=torch.cuda.is_available()), non_blocking=True)\n',
    ),
    "a source that is unpacked": (
        "y = torch.zeros(d.n)\nx.copy_(*[y], non_blocking=True)\n",
        "y = torch.zeros(d.n)\nx.copy_(*[y], non_blocking=True)\n",
    ),
    "settings of a source that are unpacked": (
        "y = torch.tensor(d.rows, **{}).to(d, non_blocking=True)\n",
        "y = torch.tensor(d.rows, **{}).to(d, non_blocking=True)\n",
    ),
    "a generator in the parentheses of the call": (
        "y = torch.tensor(k for k in range(3)).to(d)\n",
        'y = torch.tensor((k for k in range(3)), device="cpu", pin_memory=torch.cuda.is_available()).to(d, non_blocking=True)\n',
    ),
    "a truth value as the index": ("x[x.ndim > 0] = 1\n", "x[x.ndim > 0] = 1\n"),
    "a truth value as the index of a store of a tensor": (
        "y = torch.zeros(3, pin_memory=True)\nx[True] = y\n",
        "y = torch.zeros(3, pin_memory=True)\nx[True] = y\n",
    ),
    "a float in a variable, too large for a fill perhaps": (
        "v = 0.5\ny = torch.tensor(v, device='cuda')\n",
        "v = 0.5\ny = torch.tensor(v, device=\"cpu\", pin_memory=True).to('cuda', non_blocking=True)\n",
    ),
    "an integer in a variable": (
        "v = 5\ny = torch.tensor(v, device='cuda')\n",
        "v = 5\ny = torch.full((), v, device='cuda')\n",
    ),
    "a size that a variable holds": (
        "n = x.size(0)\ny = torch.tensor([n], device=d)\n",
        "n = x.size(0)\ny = torch.full((1,), n, device=d)\n",
    ),
    "a product of sizes": (
        "y = torch.tensor([x.shape[0] * 4 - len(x)], device=d)\n",
        "y = torch.full((1,), x.shape[0] * 4 - len(x), device=d)\n",
    ),
    "a quotient of sizes": (
        "y = torch.tensor(x.shape[0] / 4, device=d)\n",
        'y = torch.tensor(x.shape[0] / 4, device="cpu", pin_memory=torch.cuda.is_available()).to(d, non_blocking=True)\n',
    ),
    "a list given by name": (
        "y = torch.tensor(data=[x.sum(), x.max()], device=d)\n",
        "y = torch.tensor(data=[x.sum(), x.max()], device=d)\n",
    ),
}


UNSURE = {
    "data on the spot, which without a GPU fails in another way": (
        'y = torch.tensor(d.rows).to("cuda", non_blocking=True)\n'
    ),
    "a negative number of any dtype": "y = torch.tensor(-1, dtype=x.dtype, device=d)\n",
    "a negative number of a dtype without a sign": "y = torch.tensor(-1, dtype=torch.uint64, device=d)\n",
    "a float of any dtype": "y = torch.tensor(0.0, dtype=x.dtype, device=d)\n",
    "a float of a dtype of integers": "y = torch.tensor(1.0, dtype=torch.uint64, device=d)\n",
    "an integer too large for the dtype": "y = torch.tensor(128, dtype=torch.int8, device=d)\n",
    "an integer that a float may round": "y = torch.tensor(257, dtype=torch.bfloat16, device=d)\n",
    "a complex number": "y = torch.tensor(1j, device=d)\n",
    "a store of a float": "x[0] = 0.0\n",
    "a number too large for the default dtype": "y = torch.tensor(1e5, device=d)\n",
    "a number too large for the dtype": "y = torch.tensor(1e5, dtype=torch.float16, device=d)\n",
    "no number of int64": "y = torch.tensor(9223372036854775808, device=d)\n",
    "no number of any dtype": f"y = torch.tensor(1{'0' * 400}, device=d)\n",
    "one of two numbers, one too large": "y = torch.tensor(1.0 if x.ndim else 1e5, device=d)\n",
    "one of two numbers of other dtypes": "y = torch.tensor(1.0 if x.ndim else 1, device=d)\n",
    "a fill too large for the dtype": "y = torch.full((3,), 70000, dtype=torch.float16).to(d)\n",
    "a fill that is no number written out": "y = torch.full((3,), x.ndim).to(d)\n",
    "a store of a number too large for the dtype": "x[0] = 70000\n",
    "a store of infinity": 'x[0] = float("inf")\n',
    "an index that may be a truth value": "import numpy as np\nx[np.bool_(1)] = 1\n",
    "a tensor that may be expanded": 'y = torch.zeros(1).expand(3).to("cuda", non_blocking=True)\n',
    "a source hidden in an unpacked list": (
        'y = torch.zeros(d.n)\nz = torch.Tensor.to(*[y], device="cuda", non_blocking=True)\n'
    ),
    "a call that lacks its argument": "y = torch.tensor().to(d)\n",
}
SURE = {
    "an infinite number": (
        'y = torch.tensor(-float("inf"), device=d)\n',
        'y = torch.full((), -float("inf"), device=d)\n',
    ),
    "a small integer of any dtype": (
        "y = torch.tensor(127, dtype=x.dtype, device=d)\n",
        "y = torch.full((), 127, dtype=x.dtype, device=d)\n",
    ),
    "one of two numbers": (
        "y = torch.tensor(0.0 if x.ndim else 1.0, device=d)\n",
        "y = torch.full((), 0.0 if x.ndim else 1.0, device=d)\n",
    ),
    "a negative number of a dtype that holds it": (
        "y = torch.tensor(-1, dtype=torch.int32, device=d)\n",
        "y = torch.full((), -1, dtype=torch.int32, device=d)\n",
    ),
    "a float of a dtype that holds it": (
        'y = torch.tensor(float("-inf"), dtype=torch.float16).to(d)\n',
        'y = torch.full((), float("-inf"), dtype=torch.float16, device=d)\n',
    ),
    "an integer of the default dtype": (
        "y = torch.tensor(100000).to(d)\n",
        "y = torch.full((), 100000, device=d)\n",
    ),
    "an index that counts": (
        "for i in range(3):\n    x[i] = -1\n",
        "for i in range(3):\n    x[i].fill_(-1)\n",
    ),
}


@pytest.mark.parametrize(("before", "after"), CASES.values(), ids=CASES.keys())
def test_a_fix_leaves_the_layout_as_it_was(before: str, after: str) -> None:
    assert fixed(before, unsafe=True) == after


@pytest.mark.parametrize(("before", "after"), SURE.values(), ids=SURE.keys())
def test_a_fix_that_gives_the_same_in_every_case_is_safe(before: str, after: str) -> None:
    assert fixed(before, unsafe=False) == after


@pytest.mark.parametrize("text", UNSURE.values(), ids=UNSURE.keys())
def test_a_fix_that_may_change_a_result_is_not_safe(text: str) -> None:
    assert fixed(text, unsafe=False) == text


def fixed(text: str, *, unsafe: bool) -> str:
    result = check_texts(HEAD + text)
    assert result.findings
    assert not result.failed
    return apply_edits(HEAD + text, fixable(result.findings, unsafe=unsafe)).removeprefix(HEAD)

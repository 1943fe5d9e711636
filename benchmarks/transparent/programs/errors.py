"""Programs in which torch raises or warns, and those whose own code fails where torch calls it."""

from __future__ import annotations

from collections.abc import Iterator

from .program import USE, Program

X = "x = torch.arange(6.0, device=DEVICE).reshape(2, 3)\n"
LEAF = X + "x.requires_grad_()\n"
FAILS = "def fail(*_): raise ValueError('on purpose')\n"
FUNCTION = """\
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return {forward}
    @staticmethod
    def backward(ctx, g): {backward}
"""
CAUGHT = """\
import traceback
try: {call}
except Exception as error: print(traceback.format_exc())
"""

ERRORS = {
    "an operation": X + "x @ x\n",
    "an operation in place": X + "x += torch.ones(7, device=DEVICE)\n",
    "a constructor": "torch.zeros(-1, device=DEVICE)\n",
    "a transfer": X + "x.to('nothing')\n",
    "an index": X + "x[70]\n",
    "a number": X + "x.item()\n",
    "a truth": X + "if x: pass\n",
    "a list": "torch.tensor([1, 'a'], device=DEVICE)\n",
    "a keyword": X + "x.sum(nothing=1)\n",
    "a method that is not there": X + "x.nothing()\n",
    "a module": X + "torch.nn.Linear(5, 4, device=DEVICE)(x)\n",
    "a function in Python": X + "torch.nn.functional.dropout(x, 3)\n",
    "a module that is moved": "torch.nn.Linear(5, 4, device=DEVICE).to('nothing')\n",
    "a function that is scripted": X + "@torch.jit.script\ndef f(x): return x @ x\nf(x)\n",
    "a generator": "torch.Generator('nothing')\n",
    "autocast": "torch.autocast('nothing')\n",
    "wrong arguments": X + "torch.get_device(3)\n",
    "a hook of a module": X + FAILS + "m = torch.nn.Linear(3, 3, device=DEVICE)\nm.register_forward_hook(fail)\nm(x)\n",
    "a hook of a gradient": LEAF + FAILS + "x.register_hook(fail)\n(x * 2).sum().backward()\n",
    "backward twice": LEAF + "y = (x * x).sum()\ny.backward()\ny.backward()\n",
    "backward of no scalar": LEAF + "x.backward()\n",
    "a change in place that backward needs": LEAF + "y = x * 1\nz = y * y\ny += 1\nz.sum().backward()\n",
    "forward of a function": LEAF + FUNCTION.format(forward="1 / 0", backward="return g") + "F.apply(x)\n",
    "backward of a function": LEAF + FUNCTION.format(forward="x * 2", backward="1 / 0") + "F.apply(x).sum().backward()\n",
    "an override": X + "class S(torch.Tensor):\n    @classmethod\n    def __torch_function__(cls, f, t, a=(), k=None): 1 / 0\nx.as_subclass(S) + 1\n",
    "vmap": X + "torch.func.vmap(lambda row: row @ row[:2])(x)\n",
    "checkpoint": LEAF + FAILS + "from torch.utils.checkpoint import checkpoint\ncheckpoint(fail, x, use_reentrant=False)\n",
    "an optimizer": "torch.optim.SGD([], 1.0)\n",
    "a thread": X + "import threading\nw = threading.Thread(target=lambda: x @ x)\nw.start(); w.join()\n",
    "a loader": X + "class D(torch.utils.data.Dataset):\n    def __len__(self): return 2\n    def __getitem__(self, n): return 1 / 0\nnext(iter(torch.utils.data.DataLoader(D())))\n",
    "an operation that is caught": X + CAUGHT.format(call="x @ x"),
    "a transfer that is caught": X + CAUGHT.format(call="x.to(DEVICE).cpu().numpy().reshape(7)"),
    "a chain": X + "try: x @ x\nexcept RuntimeError as error: raise KeyError('k') from error\n",
    "an operation deep in a recursion": X + "def f(n): return x @ x if n == 0 else f(n - 1)\nf(900)\n",
}  # fmt: skip
WARNINGS = {
    "a view": "torch.zeros(2, 2, 2, device=DEVICE).T\n",
    "a reduction in a loop": X + "for _ in range(3): x.std(0, correction=5)\nx.std(0, correction=5)\n",
    "a gradient of no leaf": LEAF + "(x * 2).grad\n",
    "a cast": X + "x.to(torch.complex64).to(torch.float32)\n",
    "a copy of a tensor": X + "torch.tensor(x)\n",
    "a constructor": "torch.range(0, 1)\n",
    "a result that is resized": X + "torch.add(x, 1, out=torch.zeros(1, device=DEVICE))\n",
    "a function in Python": X + "torch.nn.functional.softmax(x)\n",
    "a module": X + "torch.nn.Softmax()(x)\n",
    "a loss": X + "torch.nn.functional.mse_loss(x, torch.zeros(1, device=DEVICE))\n",
    "what is an error": "import warnings\nwarnings.simplefilter('error')\n" + X + "x.std(0, correction=5)\n",
    "what is an error in one module": "import warnings\nwarnings.filterwarnings('error', module='__main__')\n" + X + "x.std(0, correction=5)\n",
    "what is recorded": "import warnings\n" + X + "with warnings.catch_warnings(record=True) as w:\n    warnings.simplefilter('always'); x.std(0, correction=5)\nprint([(i.filename, i.lineno) for i in w])\n",
    "what is logged": "import logging\nlogging.basicConfig(); logging.captureWarnings(True)\n" + X + "x.std(0, correction=5)\n",
}  # fmt: skip


def programs() -> Iterator[tuple[str, Program]]:
    """Yield each by its name."""
    for name, source in ERRORS.items():
        yield f"torch raises: {name}", Program(USE + source, computes=True)
    for name, source in WARNINGS.items():
        yield f"torch warns: {name}", Program(USE + source, computes=True)

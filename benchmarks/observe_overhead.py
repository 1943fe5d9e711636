"""What `syncscan facts record` and `syncscan trace --lines` cost: a decode loop and a small test suite, with and without.

    python -m benchmarks.observe_overhead [--rounds N] [--steps N] [--warm N]

The decode loop is a transformer of plain torch with a cache of keys and values, one token a step, watched as in an
observed or traced program of this Python; each round has every variant in another order. It runs on the GPU if there
is one, and else on the CPU, where a step is cheaper and the share that watching takes larger. A variant is warm after
its first steps, in which functions are watched; both figures are printed. The suite is run as a command, alone under
``trace --simulate`` and under ``observe --simulate``, so that the difference is what observing costs.
"""

from __future__ import annotations

import argparse
import random
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

LOOP = """\
import sys, time
import torch
from torch import nn
from torch.nn import functional as F

class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)
    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)
    def forward(self, x, cache, position):
        q, k, v = map(self.split, self.qkv(x).chunk(3, -1))
        cache.update(k, v, position)
        x = F.scaled_dot_product_attention(q, *cache.read(position + 1))
        return self.out(x.transpose(1, 2).reshape(x.shape[0], 1, -1))

class Cache:
    def __init__(self, batch, heads, length, size, device):
        self.keys = torch.zeros(batch, heads, length, size, device=device)
        self.values = torch.zeros(batch, heads, length, size, device=device)
    def update(self, k, v, position):
        self.keys[:, :, position : position + 1] = k
        self.values[:, :, position : position + 1] = v
    def read(self, length):
        return self.keys[:, :, :length], self.values[:, :, :length]

class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
    def forward(self, x, cache, position):
        x = x + self.attention(self.before(x), cache, position)
        return x + self.mlp(self.after(x))

class Model(nn.Module):
    def __init__(self, width=1024, heads=16, layers=12, words=8192):
        super().__init__()
        self.embed, self.head = nn.Embedding(words, width), nn.Linear(width, words, bias=False)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
    def forward(self, token, caches, position):
        x = self.embed(token)
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache, position)
        return self.head(x)

def main(steps, warm):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    width, heads, layers = (1024, 16, 12) if device == "cuda" else (256, 4, 12)
    model = Model(width, heads, layers).to(device).eval()
    token = torch.ones(4, 1, dtype=torch.int64, device=device)
    caches = [Cache(4, heads, 64, width // heads, device) for _ in model.blocks]
    times = []
    with torch.inference_mode():
        for step in range(warm + steps):
            start = time.perf_counter()
            token = model(token, caches, step % 64)[:, -1:].argmax(-1)
            token.tolist()
            times.append(time.perf_counter() - start)
    first, rest = sum(times[:warm]) / warm, sorted(times[warm:])
    print(first * 1e6, rest[len(rest) // 2] * 1e6)

main(int(sys.argv[1]), int(sys.argv[2]))
"""

SUITE = """\
import pytest
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
    def step(self, layer, x):
        return torch.relu(layer(x))
    def forward(self, x):
        for layer in self.layers:
            x = self.step(layer, x)
        return x

def accuracy(x, y):
    return (x.argmax(-1) == y).float().mean()

@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("width", [8, 16])
@pytest.mark.parametrize("depth", range(1, 8))
def test_training(device, width, depth):
    net = Net(width, depth).to(device)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    x, y = torch.randn(4, width, device=device), torch.zeros(4, dtype=torch.int64, device=device)
    for _ in range(5):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
    assert 0 <= accuracy(net(x), y).item() <= 1
"""


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=200, help="of the decode loop, once warm")
    parser.add_argument("--warm", type=int, default=100, help="steps before that")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "loop.py").write_text(textwrap.dedent(LOOP))
        (folder / "test_suite.py").write_text(SUITE)
        print(f"Python {sys.version.partition(' ')[0]}, torch {version()}")
        loops = {
            "alone": [],
            "observe": syncscan("facts", "record", "-o", "facts.json", "--"),
            "trace": syncscan("trace", "--"),
            "trace --lines": syncscan("trace", "--lines", "--"),
        }
        program = [sys.executable, "loop.py", str(options.steps), str(options.warm)]
        times = measure(loops, options.rounds, lambda prefix: loop_time([*prefix, *program], folder))
        report(
            "decode, first steps",
            {name: [first for first, _ in each] for name, each in times.items()},
            "us a step",
        )
        report(
            "decode, once warm",
            {name: [rest for _, rest in each] for name, each in times.items()},
            "us a step",
        )
        suites = {
            "trace --simulate": syncscan("trace", "--simulate", "--"),
            "observe --simulate": syncscan("facts", "record", "--simulate", "-o", "facts.json", "--"),
        }
        tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_suite.py"]
        seconds = measure(suites, options.rounds, lambda prefix: suite_time([*prefix, *tests], folder))
        report("test suite", seconds, "s")


def version() -> str:
    """The release of torch."""
    import torch  # noqa: PLC0415 (no other part needs it here)

    return str(torch.__version__)


def syncscan(*arguments: str) -> list[str]:
    """The start of a command that runs another one."""
    return [sys.executable, "-m", "syncscan", *arguments]


Measured = dict[str, list]  # by the name of a variant


def measure(variants: dict[str, list[str]], rounds: int, run: Callable[[list[str]], object]) -> Measured:
    """What each variant takes in each round; each round in another order."""
    times: Measured = {name: [] for name in variants}
    for _ in range(rounds):
        for name in random.sample(list(variants), len(variants)):
            times[name].append(run(variants[name]))
    return times


def loop_time(command: list[str], folder: Path) -> tuple[float, float]:
    """Microseconds a step: the mean of the first, and the median of the rest."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    first, rest = done.stdout.split()[:2]
    return float(first), float(rest)


def suite_time(command: list[str], folder: Path) -> float:
    """Seconds until all tests have passed."""
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return time.perf_counter() - start


def report(name: str, times: Measured, unit: str) -> None:
    """A row for each variant: the median, and how it compares with the first variant, round by round."""
    base = next(iter(times.values()))
    for variant, figures in times.items():
        over = [100 * (figure / alone - 1) for figure, alone in zip(figures, base, strict=True)]
        spread = f"({min(over):+.1f} to {max(over):+.1f}%, {len(over)} rounds)"
        print(
            f"{name:20} {variant:20} {statistics.median(figures):10.2f} {unit}"
            f" {statistics.median(over):+7.1f}%  {spread}",
            flush=True,
        )


if __name__ == "__main__":
    main()

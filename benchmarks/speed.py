"""How long `syncscan check` takes, as a multiple of what `ast.parse` takes for the same files on one core.

    python -m benchmarks.speed releases [NAME ...]   cold, warm, one file, and after a change; in each of the releases
    python -m benchmarks.speed resident [NAME ...]   after changes of the longest file, in an engine that stays in memory
    python -m benchmarks.speed lines [NAME ...]      per line, in five projects of different sizes; --plot FILE draws it
    python -m benchmarks.speed forms [NAME ...]      programs of one long form, at sizes that double
    python -m benchmarks.speed proofs [NAME@ENTRY ...]  of entry points, after a check: the first, another, and after a change

needs `pip install -e ".[bench]"`. With `--tools DIR`, a folder of programs such as the `bin` of an environment in which
ruff, semgrep, mypy, pyrefly, torchfix and fixit are installed, `releases` runs those of them that are there beside it.
NAME is a release such as vllm==0.19.0, which pip downloads, or a folder, and may go on with a
folder inside it: vllm==0.19.0:vllm. Times are of
the processor, of all processes of a run; ``wall`` is what the clock said, and depends on what else the machine does.
Our own modules are compiled before, as those of an installed package are.
The exponent of a form is 1 where twice the source takes twice the time; the time of a start is not counted, and
sizes at which CPython cannot parse a form are left out.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import gc
import math
import random
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import syncscan.rules

from benchmarks import edits, other_tools, plot, releases
from benchmarks.robust.watched import Watched, watch
from syncscan.check.engine import Engine
from syncscan.check.files import Source
from syncscan.model import Conventions

RELEASES = ("vllm==0.19.0", "sglang==0.5.10", "transformers==5.17.0")
# Of one project each, from small to large.
PARTS = (
    "vllm==0.19.0:vllm/v1",
    "vllm==0.19.0:vllm",
    "sglang==0.5.10",
    "vllm==0.19.0",
    "transformers==5.17.0",
)
PROOFS = (
    "torchmetrics==1.9.0@torchmetrics.metric:Metric.forward",
    "torchmetrics==1.9.0@torchmetrics.functional.classification.accuracy:_accuracy_reduce",
    "vllm==0.19.0:vllm@vllm.v1.worker.gpu_model_runner:GPUModelRunner._update_states",
)
SIZES = (1000, 2000, 4000, 8000, 16000)
_LONGEST = 20.0  # seconds, after which a form is not doubled again
_TRIES = 1000  # to edit a file so that it differs and parses
_LIMITS = (100_000.0, 16 * 2**30)


def main() -> None:
    """Print the tables that are asked for."""
    options = parse_options()
    for package in (syncscan, syncscan.rules):
        compileall.compile_dir(package.__path__[0], quiet=1)
    if options.what == "forms":
        for name in options.names or FORMS:
            print_form(name, options.sizes)
    elif options.what == "resident":
        for name in options.names or RELEASES:
            print_resident(name, options)
    elif options.what == "proofs":
        for name in options.names or PROOFS:
            print_proofs(name, options)
    elif options.what == "lines":
        print_lines(options.names or PARTS, options)
    else:
        for name in options.names or RELEASES:
            print_release(name, options)


def parse_options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["releases", "resident", "lines", "forms", "proofs"])
    parser.add_argument("names", nargs="*", help="releases or folders; forms")
    parser.add_argument("--sources", type=Path, default=releases.CACHE, help="where releases are kept")
    parser.add_argument("--tools", type=Path, help="where the programs of other tools are")
    parser.add_argument("--only-tools", action="store_true", help="run those alone")
    parser.add_argument("--plot", type=Path, help="where `lines` draws what it prints, as an SVG")
    parser.add_argument("--jobs", type=int, default=2, help="worker processes of a check")
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES, help="of the forms")
    return parser.parse_args()


def print_release(name: str, options: argparse.Namespace) -> None:
    """A row for each way to check one release."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = releases.copied(name, options.sources, Path(scratch))
        cache = f"--cache-dir={scratch}/kept"
        longest = max(folder.rglob("*.py"), key=lambda path: path.stat().st_size)
        parse, lines = parsed(folder)
        print(f"{name}: {lines:,} lines, ast.parse {parse:.2f} s, longest file {longest.relative_to(folder)}")
        if options.tools is not None:
            for tool, run in other_tools.runs(options.tools.absolute(), folder):
                print_run(tool + (f", ended: too much {run.exceeded}" if run.exceeded else ""), run, parse)
        if options.only_tools:
            return
        print_run("cold", checked(folder, ".", "--no-cache", f"--jobs={options.jobs}"), parse)
        print_run("cold, and kept", checked(folder, ".", cache, f"--jobs={options.jobs}"), parse)
        print_run("warm, nothing changed", checked(folder, ".", cache), parse)
        checked(folder, str(longest), cache)
        print_run("warm, the longest file alone", checked(folder, str(longest), cache), parse)
        rng = random.Random(1)  # noqa: S311 (edits, no secrets)
        for kind in ("body", "body", "body", "signature", "attribute", "import", "helper"):
            change(rng, longest, kind)
            print_run(f"{kind} changed", checked(folder, ".", cache), parse)
            if kind == "body":
                print_run("the same, that file alone", checked(folder, str(longest), cache), parse)
        new = longest.with_name("new.py")
        new.write_text(longest.read_text(encoding="utf-8"), encoding="utf-8")
        print_run("new file", checked(folder, ".", cache), parse)
        new.unlink()
        print_run("file deleted again", checked(folder, ".", cache), parse)


def change(rng: random.Random, path: Path, kind: str) -> None:
    """Edit a file, so that it still parses."""
    text = path.read_text(encoding="utf-8")
    for _ in range(_TRIES):
        new = edits.TEXTS[kind](rng, text)
        if new != text and edits.parses(new):
            path.write_text(new, encoding="utf-8")
            return
    sys.exit(f"{path.name} has nothing to change for: {kind}")


def print_resident(name: str, options: argparse.Namespace) -> None:
    """A row for each way to change a project, asked of an engine that stays in memory."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = releases.copied(name, options.sources, Path(scratch))
        parse, lines = parsed(folder)
        sources = {source.shown: source for source in edits.read(folder)}
    print(f"{name}: {lines:,} lines, ast.parse {parse:.2f} s")
    longest = max(sources.values(), key=lambda source: len(source.text))
    rng, engine = random.Random(1), Engine(Conventions())  # noqa: S311 (edits, no secrets)
    print_row("first", asked(engine, sources, longest), parse)
    print_row("asked about the longest file", asked(engine, sources, longest), parse)
    bodies = [edited(rng, "body", rng.choice([*sources.values()]), engine, sources) for _ in range(20)]
    print(
        f"    20 bodies in any file: {statistics.median(bodies):.2f} s, at most {max(bodies):.2f} s",
        flush=True,
    )
    # what deletes a definition may leave no class for the others to edit
    for kind in sorted(edits.TEXTS, key=lambda each: each.startswith("deleted")):
        for _ in range(5 if kind == "body" else 1):
            took = edited(rng, kind, sources[longest.shown], engine, sources)
            print_row(kind, took, parse)
    new = replace(longest, path=longest.path.with_name("new.py"), shown="new.py", module="new")
    sources[new.shown] = new
    print_row("new file", asked(engine, sources, longest), parse)
    del sources[new.shown]
    print_row("deleted file", asked(engine, sources, longest), parse)


def edited(rng: random.Random, kind: str, source: Source, engine: Engine, sources: edits.Sources) -> float:
    """Edit a file, and return the processor seconds that the engine takes to say what is in it then; 0 where nothing can be edited."""
    for _ in range(_TRIES):
        text = edits.TEXTS[kind](rng, source.text)
        if text != source.text and edits.parses(text):
            sources[source.shown] = replace(source, text=text)
            return asked(engine, sources, source)
    return 0.0


def asked(engine: Engine, sources: edits.Sources, about: Source) -> float:
    """Return the processor seconds of a question about one file."""
    start = time.process_time()
    engine.check([*sources.values()], {about.shown}, lambda *_: None)
    return time.process_time() - start


def print_row(name: str, took: float, parse: float) -> None:
    """Print one row: what was asked, and how long it took."""
    print(f"    {name:32}{took / parse:6.2f} times {took:8.3f} s", flush=True)


def print_lines(names: tuple[str, ...], options: argparse.Namespace) -> None:
    """A row for each project: how much longer than `ast.parse`, and microseconds for each line."""
    points: list[plot.Point] = []
    for name in names:
        with tempfile.TemporaryDirectory() as scratch:
            folder = releases.copied(name, options.sources, Path(scratch))
            parse, lines = parsed(folder)
            run = checked(folder, ".", "--no-cache", f"--jobs={options.jobs}")
        each = run.processor / lines * 1e6
        print(
            f"{name:30}{lines:10,} lines  {run.processor / parse:6.1f} times  {each:6.1f} us a line",
            flush=True,
        )
        points.append((name, lines / 1000, run.processor))
        if options.plot is not None:  # after each, for all of them take long
            title, axes = "A cold check: processor time by size", ("thousand lines", "seconds")
            slope = points[0][2] / points[0][1]
            plot.write_plot(options.plot, f"{title} (dashed: as {points[0][0]} a line)", axes, points, slope)


def print_run(name: str, run: Watched, parse: float) -> None:
    """One row."""
    print(
        f"    {name:32}{run.processor / parse:6.2f} times {run.processor:8.2f} s {run.peak / 2**20:7.0f} MiB"
        f"   wall {run.seconds / parse:6.2f} times",
        flush=True,
    )


def print_proofs(name: str, options: argparse.Namespace) -> None:
    """A row for each proof of one entry point."""
    release, _, entry = name.partition("@")
    with tempfile.TemporaryDirectory() as scratch:
        folder = releases.copied(release, options.sources, Path(scratch))
        cache = f"--cache-dir={scratch}/kept"
        parse, _ = parsed(folder)
        print(f"{name}: ast.parse {parse:.2f} s")
        print_run("from nothing", ran(folder, "prove", entry, "--no-cache"), parse)
        print_run("check", checked(folder, ".", cache), parse)
        print_run("first after the check", ran(folder, "prove", entry, cache), parse)
        print_run("nothing changed", ran(folder, "prove", entry, cache), parse)
        longest = max(folder.rglob("*.py"), key=lambda path: path.stat().st_size)
        change(random.Random(1), longest, "body")  # noqa: S311 (edits, no secrets)
        print_run("body changed", ran(folder, "prove", entry, cache), parse)


def checked(folder: Path, *arguments: str) -> Watched:
    """A check as a command."""
    return ran(folder, "check", *arguments)


def ran(folder: Path, *arguments: str) -> Watched:
    """A command of syncscan in a folder; it ends the program where that fails."""
    command = f"import os; os.chdir({str(folder)!r}); from syncscan.cli import main; main()"
    what = (*arguments, "--isolated", "--output-format=json")
    run = watch([sys.executable, "-c", command, *what], 0, *_LIMITS)
    if run.exceeded or "Traceback" in run.stderr:
        sys.exit(f"syncscan {' '.join(what)}: {run.exceeded or run.stderr}")
    return run


def parsed(folder: Path) -> tuple[float, int]:
    """The seconds that `ast.parse` takes for the files of a folder, and their lines."""
    texts = [path.read_bytes() for path in sorted(folder.rglob("*.py"))]
    return min(timed(lambda: parse_all(texts)) for _ in range(2)), sum(text.count(b"\n") for text in texts)


def parse_all(texts: list[bytes]) -> None:
    """Parse as the check does: without the collector, and passing over what is no Python."""
    for text in texts:
        try:
            ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue


def timed(work: Callable[[], object]) -> float:
    """The processor time of some work, without the collector."""
    gc.collect()
    gc.disable()
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        work()
    took = time.process_time() - start
    gc.enable()
    return took


def print_form(name: str, sizes: tuple[int, ...]) -> None:
    """Seconds at each size of a form, without those of a start, and the exponent of the last doubling."""
    start = checked_form("")
    seconds = [each - start for each in seconds_of(name, sizes)]
    exponent = math.log2(seconds[-1] / seconds[-2]) if len(seconds) > 1 else math.nan
    print(
        f"{name:22}" + "".join(f"{each:8.2f}" for each in seconds) + f"   exponent {exponent:.2f}", flush=True
    )


def seconds_of(name: str, sizes: tuple[int, ...]) -> Iterator[float]:
    """The processor time of a check of a form at each size, as long as it is bearable."""
    for size in sizes:
        took = checked_form(FORMS[name](size))
        if math.isinf(took):
            return
        yield took
        if took > _LONGEST:
            return


def checked_form(text: str) -> float:
    """The processor time of a check of one file; infinite where CPython itself cannot parse it."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "form.py").write_text(text, encoding="utf-8")
        run = checked(Path(folder), ".", "--no-cache")
    return math.inf if "nested too deeply" in run.stdout else run.processor


def repeated(head: str, line: str) -> Callable[[int], str]:
    """A form of a head and many lines, each with its number ``{n}`` and the next one ``{m}``."""
    return lambda size: head + "".join(line.format(n=n, m=n + 1) for n in range(size))


FORMS: dict[str, Callable[[int], str]] = {
    "locals": repeated("def f(t):\n", "    x{n} = t\n"),
    "chained locals": repeated("def f(x0):\n", "    x{m} = x{n}\n"),
    "if and else": repeated("def f(t, x):\n", "    if t: x = t\n    else: x = {n}\n"),
    "arms of one test": repeated("def f(t, x):\n    if t: x = 0\n", "    elif t == {n}: x = {n}\n"),
    "loops": repeated("def f(t, x):\n", "    for x in t: y{n} = x\n"),
    "exceptions": repeated("def f(t, x):\n", "    try: y{n} = t()\n    except E: x = t\n"),
    "attributes": repeated("class A:\n  def f(self, t):\n    pass\n", "    self.x{n} = t\n"),
    "methods": repeated("class A:\n", "    def f{n}(self): return self.f{m}()\n"),
    "functions": repeated("", "def f{n}(x): return f{m}(x)\n"),
    "overrides": repeated(
        "class A:\n    def f(self, x): pass\n", "class A{n}(A):\n  def f(self, x): return A().f(x)\n"
    ),
    "partials": repeated("import functools\nx = f = print\n", "if f: x = functools.partial(f, x, x)\n"),
    "classes in a circle": lambda size: "".join(
        f"class A{n}(A{(n + 1) % size}):\n    def f(self): self.x{n} = self.f() + self.y\n"
        for n in range(size)
    ),
    "lambdas in lambdas": lambda size: f"f = {'lambda x: ' * size}x\n",
}


if __name__ == "__main__":
    main()

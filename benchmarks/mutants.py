"""How many small defects, put into the source at random, make a test fail.

    pip install -e ".[test,bench]"
    python -m benchmarks.mutants [--count N] [--seed N] [--jobs N] [--timeout SECONDS] [FILE ...]

Cosmic Ray makes the mutants: a condition negated, `and` for `or`, `True` for `False`, a number one larger, a
comparison or an operator replaced by its counterpart, a loop that runs no time, a decorator taken away. Places are
drawn from all that run, and of the mutants at a place one. Left out are annotations, which are never evaluated, as
what stands under `TYPE_CHECKING` for them, stars of parameters and arguments, which Cosmic Ray takes for operators
and which mostly are no Python without, and what `slots=` and `maxsize=` of a decorator are set to, for those say how
much memory is used, and nothing else that a test could see. What else changes nothing counts as living. Each mutant
lies alone in a copy of the checkout, in which those tests of its part run that run its statement, all of them where
an import does, until one fails; tests that run longer than the limit count as failed, and are said to. This prints
each mutant with the test that failed, or with its line where it lives, and at the end the share killed by file; after
Ctrl-C, of those tested until then; and which tests this machine skips, for what they alone see lives here. It takes
long: first all tests run once to see which lines each one runs, and some start hundreds of processes.
"""

from __future__ import annotations

import argparse
import ast
import io
import os
import random
import re
import shutil
import sys
import tempfile
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from cosmic_ray.commands.init import _all_work_items
from cosmic_ray.mutating import mutate_and_test
from cosmic_ray.work_item import MutationSpec, TestOutcome, WorkResult

from benchmarks.tests_of_lines import TestsOfLines

ROOT = Path(__file__).resolve().parent.parent
# The tests that are about a part, the quick ones first.
TESTS = {
    "syncscan/check/infer": "tests/check/test_corpus.py tests/infer tests/rules/test_rule_book.py "
    "tests/rules/test_rule_author.py tests/check tests/reference/test_static.py",
    "syncscan/guard.py": "tests/simulate/test_context.py tests/trace/test_guard.py tests/trace/test_pytest_plugin.py "
    "tests/simulate/test_reference.py tests/test_readme.py",
    "syncscan/trace/sites.py": "tests/trace/test_sites.py tests/trace/test_trace_text.py tests/trace/test_report.py tests/trace/test_detectors.py tests/trace/test_steps.py "
    "tests/trace/test_processes.py tests/trace/test_launch.py tests/simulate/test_trace.py",
    "syncscan/trace/classify.py": "tests/trace/test_classify.py tests/trace/test_detectors.py tests/simulate/test_trace.py "
    "tests/rules/test_rule_author.py tests/simulate/test_rule_examples.py",
    "syncscan/simulate": "tests/simulate/test_kinds.py tests/simulate/test_simulated_device.py "
    "tests/simulate/test_verdicts.py tests/simulate",
    "syncscan/measure/learn.py": "tests/measure tests/rules/test_operation_table.py",
}
# One counterpart for each operator: an order of enums, or the sum of two sets, fails without any test.
_OPERATORS = re.compile(
    r"core/(AddNot|NumberReplacer|ReplaceAndWithOr|ReplaceOrWithAnd|ReplaceUnaryOperator_Delete_(Not|USub)"
    r"|ReplaceTrueWithFalse|ReplaceFalseWithTrue|ReplaceBreakWithContinue|ReplaceContinueWithBreak"
    r"|ZeroIterationForLoop|RemoveDecorator|ExceptionReplacer"
    r"|ReplaceComparisonOperator_(Is_IsNot|IsNot_Is|Eq_NotEq|NotEq_Eq|Lt_LtE|LtE_Lt|Gt_GtE|GtE_Gt)"
    r"|ReplaceBinaryOperator_(Add_Sub|Sub_Add|Mul_Div|Div_Mul|FloorDiv_Mul|Mod_Mul|BitOr_BitAnd|BitAnd_BitOr))"
)


def main() -> None:
    """Draw mutants, test each, and print what came of them."""
    parser = argparse.ArgumentParser(description="share of random mutants that the tests kill")
    parser.add_argument("files", nargs="*", help="only these files")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--timeout", type=float, default=600)
    options = parser.parse_args()
    os.chdir(ROOT)
    mutants = drawn(options.files or list(TESTS), options.count, options.seed)
    results = []
    with tempfile.TemporaryDirectory(prefix="syncscan-mutants-") as folder:
        chosen, lines = _chosen(mutants, Path(folder), options.jobs)
        pool = ProcessPoolExecutor(options.jobs, initializer=_copy_checkout, initargs=(folder,))
        tested = pool.map(
            _tested, mutants, chosen, [lines.failed] * len(mutants), [options.timeout] * len(mutants)
        )
        try:
            for mutant, result in zip(mutants, tested, strict=True):
                results.append((mutant, result))
                print(f"{len(results)} of {len(mutants)}: {_told(mutant, result)}", flush=True)
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
        finally:
            pool.shutdown()
    if results:
        report(results)
    for reason, count in sorted(lines.skipped.items()):
        print(f"skipped here: {count} of the tests ({reason})")


def drawn(parts: list[str], count: int, seed: int) -> list[MutationSpec]:
    """``count`` mutants of the files and folders, at different places."""
    paths = [path for part in map(Path, parts) for path in (sorted(part.rglob("*.py")) or [part])]
    places = defaultdict(list)
    for path in paths:
        without_effect, operators = [*_of_types(path), *_bounds_of_memory(path)], _operators(path)
        for item in _all_work_items([path], {}):
            (mutant,) = item.mutations
            inside = any(first <= mutant.start_pos < last for first, last in without_effect)
            is_star = "BinaryOperator" in mutant.operator_name and mutant.start_pos not in operators
            if _OPERATORS.fullmatch(mutant.operator_name) and not inside and not is_star:
                places[str(path), mutant.start_pos, mutant.end_pos].append(mutant)
    generator = random.Random(seed)  # noqa: S311 (a sample, no secret)
    chosen = generator.sample(sorted(places), min(count, len(places)))
    return [generator.choice(places[place]) for place in chosen]


def _of_types(path: Path) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Where annotations begin and end, which are never evaluated, and what is imported for them alone."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            yield _span(node)
        for field in ("annotation", "returns"):
            found = getattr(node, field, None)
            if isinstance(found, ast.expr):
                yield _span(found)


def _bounds_of_memory(path: Path) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Where decorators are told whether objects have slots, and how much a cache holds."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        for decorator in getattr(node, "decorator_list", ()):
            for keyword in getattr(decorator, "keywords", ()):
                if keyword.arg in {"slots", "maxsize"}:
                    yield _span(keyword.value)


def _operators(path: Path) -> set[tuple[int, int]]:
    """Where operators between two operands stand: a star before a parameter or an argument is none."""
    text = path.read_text(encoding="utf-8")
    nodes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.BinOp))
    between = [(_span(node.left)[1], _span(node.right)[0]) for node in nodes]
    tokens = (
        token.start
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.OP
    )
    return {start for start in tokens if any(first <= start < last for first, last in between)}


def _span(node: ast.expr | ast.stmt) -> tuple[tuple[int, int], tuple[int, int]]:
    return (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)


def _copy_checkout(parent: str) -> None:
    """Work in a copy of the checkout, which comes first for Python."""
    folder = Path(parent, str(os.getpid()), ROOT.name)
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache"))
    os.chdir(folder)
    os.environ["PYTHONPATH"] = str(folder)


def _chosen(mutants: list[MutationSpec], folder: Path, jobs: int) -> tuple[list[list[str]], TestsOfLines]:
    """For each mutant, the tests of its part that run its statement, the quick ones first; and all tests by line."""
    parts = [_part_of(mutant) for mutant in mutants]
    _copy_checkout(str(folder))
    named = sorted({test for part in parts for test in TESTS[part].split()})
    lines = TestsOfLines(Path.cwd(), named, folder, jobs)
    chosen = []
    for mutant, part in zip(mutants, parts, strict=True):
        places = TESTS[part].split()
        run_it = lines.of(Path.cwd() / mutant.module_path, *span) if (span := _statement(mutant)) else {""}
        if run_it != {""}:
            places = [test for place in places for test in sorted(run_it) if test.startswith(place)]
        chosen.append(list(dict.fromkeys(places)))
    return chosen, lines


def _part_of(mutant: MutationSpec) -> str:
    return next(part for part in TESTS if str(mutant.module_path).startswith(part))


def _statement(mutant: MutationSpec) -> tuple[int, int] | None:
    """The lines of the innermost statement around a mutant, its body left out; None where an import runs it."""
    line = mutant.start_pos[0]
    tree = ast.parse(mutant.module_path.read_text(encoding="utf-8"))
    around = [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and line in _lines(node)]
    inner = max(around, key=lambda node: _lines(node).start)
    if not any(
        isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) for node in around if node is not inner
    ):
        return None
    within = [node.lineno for node in ast.walk(inner) if isinstance(node, ast.stmt) and node is not inner]
    lines = _lines(inner)
    return lines.start, max(line, min(within, default=lines.stop) - 1)


def _lines(node: ast.stmt) -> range:
    first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])
    return range(first, (node.end_lineno or first) + 1)


def _tested(mutant: MutationSpec, tests: list[str], failed: list[str], timeout: float) -> WorkResult:
    tests = [test for test in tests if test not in failed]
    arguments = [*tests, *(f"--deselect={test}" for test in failed)]
    Path("tests-of-mutant").write_text("\n".join(arguments), encoding="utf-8")
    command = f"{sys.executable} -m pytest -q -x -m 'long or not long' -p no:cacheprovider @tests-of-mutant"
    result = mutate_and_test([mutant], command if tests else f"{sys.executable} -c pass", timeout)
    if "ERROR: not found: " in (result.output or ""):
        raise RuntimeError(f"{mutant.module_path}: no test ran: {result.output}")
    return result


def _told(mutant: MutationSpec, result: WorkResult) -> str:
    what = f"{mutant.module_path}:{mutant.start_pos[0]}: {mutant.operator_name.removeprefix('core/')}"
    if result.test_outcome is TestOutcome.SURVIVED:
        changed = [line for line in (result.diff or "").splitlines() if re.match(r"[-+](?![-+])", line)]
        return "\n".join([f"{what} lives", *changed])
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", result.output or "", re.MULTILINE)
    by = failed[1] if failed else "the limit of time" if result.output == "timeout" else "an end of pytest"
    return f"{what} killed by {by}"


def report(results: list[tuple[MutationSpec, WorkResult]]) -> None:
    """Print the share killed, for each file and in all."""
    total = Counter(str(mutant.module_path) for mutant, _ in results)
    lived = [mutant for mutant, result in results if result.test_outcome is TestOutcome.SURVIVED]
    survivors = Counter(str(mutant.module_path) for mutant in lived)
    for path in sorted(total):
        print(f"{path}: {_share(total[path] - survivors[path], total[path])}")
    print(f"all: {_share(len(results) - len(lived), len(results))}")


def _share(killed: int, total: int) -> str:
    return f"{killed} of {total} killed, {killed / total:.0%}"


if __name__ == "__main__":
    main()

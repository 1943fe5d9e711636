"""Tries every fix, and the code of every suggestion, on operands of every kind, and prints how many cases there were and how many came to something else.

    python -m benchmarks.fixes [--cases 400] [--seed 1] [--gpu]

A case is a statement over drawn operands (`tests/rules/tried`). Those that get a fix run before and after it on the CPU, on the
simulated GPU and, with `--gpu`, on a GPU, where torch raises an error at each synchronization of the fixed form. So do statements with the
code that a suggestion shows (`tried/suggested.py`).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.rules.tried.suggested import SHOWN, suggested
from tests.rules.tried.templates import TEMPLATES, Case
from tests.rules.tried.trial import Fixed, fixed, in_host_memory, on_a_gpu, on_the_host, simulated

Form = Callable[[list[Case]], list[Fixed]]
World = Callable[[list[Fixed]], Iterator[tuple[Fixed, str]]]
_BATCH = 40  # cases that are checked as one program


def main() -> int:
    """Print the table, and what went wrong; 1 where anything did."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=400, help="how many for each template")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--gpu", action="store_true", help="run on a GPU too")
    arguments = parser.parse_args()
    worlds = {"CPU": on_the_host, **({"GPU": on_a_gpu} if arguments.gpu else {"simulated": simulated})}
    start, wrong = time.monotonic(), []
    print(f"| template | operand | cases | with a fix | safe | {' | '.join(worlds)} | wrong |")
    print("|---" * (6 + len(worlds)) + "|")
    tried = [(name, template, fixed, worlds) for name, template in TEMPLATES.items()]
    in_memory = {**worlds, "CPU": in_host_memory}
    tried += [(row, each.cases, partial(suggested, row, each), in_memory) for row, each in SHOWN.items()]
    for name, template, form, tried_in in tried:
        count, failures = _tried(template, form, arguments, tried_in)
        wrong += failures
        for kind in sorted({kind for kind, _ in count}):
            numbers = [count[kind, what] for what in ("cases", "fix", "safe", *worlds, "wrong")]
            print(f"| {name} | {kind} | {' | '.join(map(str, numbers))} |", flush=True)
    print(f"\n{time.monotonic() - start:.0f} s; {len(wrong)} wrong")
    for told in wrong[:40]:
        print(told[:800])
    return 1 if wrong else 0


def _tried(
    template: st.SearchStrategy[Case], form: Form, arguments: argparse.Namespace, worlds: dict[str, World]
) -> tuple[Counter[tuple[str, str]], list[str]]:
    count: Counter[tuple[str, str]] = Counter()
    failures: list[str] = []

    @seed(arguments.seed)
    @settings(
        max_examples=max(1, arguments.cases // _BATCH),
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(template, min_size=_BATCH, max_size=_BATCH))
    def run(drawn: list[Case]) -> None:
        pairs = form(drawn)
        count.update((case.kinds, "cases") for case in drawn)
        count.update((pair.case.kinds, "fix") for pair in pairs)
        count.update((pair.case.kinds, "safe") for pair in pairs if pair.is_safe)
        for name, world in worlds.items():
            for pair, told in world(pairs):
                count[pair.case.kinds, name] += 1
                if told:
                    count[pair.case.kinds, "wrong"] += 1
                    failures.append(told)

    run()
    return count, failures


if __name__ == "__main__":
    sys.exit(main())

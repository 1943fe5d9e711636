"""Search for the conditions under which an operation blocks: the simplest that agree with every measured call.

A condition is a conjunction of terms from the vocabulary of the operation table. A condition must not hold
for any call that did not block. The search tries shorter conditions first, and prefers the condition that
explains the most blocking calls.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from syncscan.measure.describe import Description, bytes_of, is_of, kinds_of, values_of
from syncscan.ops import Condition, Term
from syncscan.ops.kinds import asks

Args = dict[str, Description]

MAX_TERMS = 4
MAX_SEARCHED = 60_000  # conjunctions tried for one operation and length

# The cost of a term: "input is gpu" wins over "input is tensor", and a device over a form. Kinds without an
# entry come last, and are never negated.
_KIND_COST = {
    "gpu": 1.0,
    "cpu": 1.1,
    "gpu mask": 1.15,
    "gpu device": 1.1,
    "cpu device": 1.1,
    "gpu sequence": 1.1,
    "gpu mask sequence": 1.15,
    "gpu index sequence": 1.3,
    "cpu index sequence": 1.3,
    "gpu slice": 1.1,
    "gpu scalar": 1.3,
    "true": 1.2,
    "host data": 1.25,
    "gpu index": 1.3,
    "cpu index": 1.3,
    "cpu mask": 1.3,
    "cpu module": 1.3,
    "number": 1.4,
    "sequence": 1.4,
    "scalar": 1.5,
    "pageable": 1.5,
    "pinned": 1.7,
    "false": 1.7,
    "strided": 1.8,
    "bfloat16": 1.9,
    "sparse": 1.8,
    "coo": 1.85,
    "compressed": 1.85,
    "uncoalesced": 1.9,
    "batch": 1.9,
    "gpu matrix": 1.95,
    "pair": 1.95,
    "singular": 1.95,
    "nuclear": 1.97,
    "blocked": 1.9,
    "hybrid": 1.95,
    "permuted": 1.95,
    "tensor": 2.0,
}
_DENIED_COST = {
    "true": 1.25,
    "false": 1.3,
    "scalar": 2.3,
    "gpu": 2.4,
    "number": 2.5,
    "cpu device": 2.5,
    "cpu mask": 2.4,
    "strided": 1.9,
    "bfloat16": 2.0,
    "sparse": 1.85,
    "coalesced": 1.85,
    "square": 1.85,
    "hybrid": 1.95,
    "permuted": 1.95,
    "bsr": 1.95,
    "bsc": 1.95,
}
_OTHER_KIND_COST = 2.1
_WHERE = frozenset(
    {"on", "module", "holds", "names", "memory", "true"}
)  # the facts about a device or a switch
_OF_ANY = frozenset({"gpu", "gpu sequence"})  # the kinds that terms may require of "any"
_ANY_COST = 0.05
_GIVEN_COST = 1.7
_NOT_GIVEN_COST = 1.4
_BYTES_COST = 2.6


@dataclass(frozen=True, slots=True)
class MeasuredCall:
    """One measured call: its arguments, and whether the CPU blocked."""

    args: Args
    waited: bool


def holds(term: Term, args: Args) -> bool:
    """Return whether a term holds for a call, as `syncscan.ops` defines it."""
    values = [
        v for a in ([*args] if term.arg == "any" else [term.arg]) if a in args for v in values_of(args[a])
    ]
    values = [value for value in values if value["is"] != "none"]
    if term.test == "given":
        return bool(values) is not term.negated
    if term.test == "bytes":
        return any(bytes_of(value) > term.size for value in values)
    return any(is_of(term.kind, value) for value in values) is not term.negated


def all_hold(condition: Condition, args: Args) -> bool:
    """Return whether every term of a condition holds for a call."""
    return all(holds(term, args) for term in condition)


def waits(cases: Iterable[tuple[Condition, Condition]], args: Args) -> bool:
    """Return whether any case predicts that the call blocks.

    A case applies where its first condition holds and its second condition, the exception, is empty or does
    not hold.
    """
    return any(all_hold(when, args) and not (unless and all_hold(unless, args)) for when, unless in cases)


@dataclass(frozen=True, slots=True)
class Found:
    """A condition, and whether some measured calls that satisfy the condition did not block."""

    when: Condition
    sometimes: bool = False


def learn(
    examples: Sequence[MeasuredCall], names: Sequence[str], *, sizes: bool = False, shapes: bool = False
) -> list[Found]:
    """Return conditions, at least one of which holds for each measured call that blocked.

    Terms of a condition refer to the parameters in ``names``, or to "any". ``sizes`` admits terms about the
    size of an operand, and ``shapes`` terms about square matrices. If no condition separates the remaining
    blocking calls from the others, the result contains the conditions with the fewest exceptions, marked as
    holding sometimes.
    """
    left = _set_of(examples, lambda example: example.waited)
    forbidden = _set_of(examples, lambda example: not example.waited)
    candidates = {
        term: chosen
        for term, chosen in _candidates(examples, names, sizes=sizes).items()
        if shapes or term.kind != "square"
    }
    found: list[Found] = []
    while left:
        best = _best(candidates, left, forbidden)
        if best is None:
            found += _sometimes(candidates, left, forbidden)
            break
        found.append(Found(best))
        left &= ~_covered(best, candidates)
    return _needed(found, candidates)


def _needed(found: list[Found], candidates: dict[Term, int]) -> list[Found]:
    """Return the conditions without those whose calls later conditions explain too: the search finds short conditions first."""
    kept: list[Found] = []
    explained = 0
    for one in reversed(found):
        covered = _covered(one.when, candidates)
        if one.sometimes or covered & ~explained:
            kept.insert(0, one)
            explained |= 0 if one.sometimes else covered
    return kept


def _sometimes(candidates: dict[Term, int], left: int, forbidden: int) -> list[Found]:
    """Return the condition that explains all remaining blocking calls with the fewest exceptions."""
    most = forbidden.bit_count()
    for allowed in range(1, most + 1):
        best = _best(candidates, left, forbidden, exceptions=allowed, at_least=left.bit_count())
        if best is not None:
            return [Found(best, sometimes=True)]
    return [Found((), sometimes=bool(forbidden))]


def _set_of(examples: Sequence[MeasuredCall], test: Callable[[MeasuredCall], bool]) -> int:
    return sum(1 << index for index, example in enumerate(examples) if test(example))


def _candidates(examples: Sequence[MeasuredCall], names: Sequence[str], *, sizes: bool) -> dict[Term, int]:
    """Return every term that separates some calls from others, with the set of calls for which the term holds."""
    everything = (1 << len(examples)) - 1
    sets: dict[Term, int] = {}
    for term in _terms(examples, names, sizes=sizes):
        chosen = sum(1 << index for index, example in enumerate(examples) if holds(term, example.args))
        if chosen and chosen != everything:
            sets[term] = chosen
    return sets


def _terms(examples: Sequence[MeasuredCall], names: Sequence[str], *, sizes: bool) -> Iterator[Term]:
    every_kind: set[str] = set()
    for name in names:
        values = [value for e in examples if name in e.args for value in values_of(e.args[name])]
        kinds = {kind for value in values for kind in kinds_of(value)}
        every_kind |= kinds
        yield from (Term(name, "is", kind) for kind in sorted(kinds))
        yield from (Term(name, "is", kind, negated=True) for kind in sorted(kinds & _DENIED_COST.keys()))
        yield Term(name, "given")
        yield Term(name, "given", negated=True)
        if sizes:
            yield from (
                Term(name, "bytes", size=size) for size in sorted({bytes_of(value) for value in values} - {0})
            )
    yield from (Term("any", "is", kind) for kind in sorted(every_kind & _OF_ANY))


def cost(term: Term) -> float:
    """Return the cost of a term; the search prefers the condition whose terms have the lowest total cost."""
    if term.test == "given":
        return _NOT_GIVEN_COST if term.negated else _GIVEN_COST
    if term.test == "bytes":
        return (
            _BYTES_COST - 1e-12 * term.size
        )  # the largest size that explains all calls is the closest bound
    if term.negated:
        return _DENIED_COST[term.kind]
    return _KIND_COST.get(term.kind, _OTHER_KIND_COST) + (_ANY_COST if term.arg == "any" else 0)


def _best(
    candidates: dict[Term, int], left: int, forbidden: int, *, exceptions: int = 0, at_least: int = 1
) -> Condition | None:
    """Return the shortest conjunction; among these, the conjunction that explains the most calls, then the cheapest."""
    if not forbidden and not exceptions:
        return ()
    useful = sorted(
        (term for term, holds_for in candidates.items() if holds_for & left), key=lambda t: (cost(t), str(t))
    )
    grounded = any(_says_where(term) for term in useful)
    for count in range(1, MAX_TERMS + 1):
        best: tuple[int, float] | None = None
        chosen: Condition | None = None
        for terms in itertools.islice(itertools.combinations(useful, count), MAX_SEARCHED):
            covered, wrong = left, forbidden
            for term in terms:
                covered &= candidates[term]
                wrong &= candidates[term]
            if covered.bit_count() < at_least or wrong.bit_count() > exceptions:
                continue
            rank = (-covered.bit_count(), sum(map(cost, terms)))
            if (best is None or rank < best) and _is_sound(terms, grounded=grounded):
                best, chosen = rank, terms
        if chosen is not None:
            return chosen
    return None


def _is_sound(terms: Condition, *, grounded: bool) -> bool:
    """Return whether a condition names the device of an operand where possible; a size term needs the device of its operand."""
    placed = {term.arg for term in terms if _says_where(term)}
    sized = {term.arg for term in terms if term.test == "bytes"}
    return (bool(placed) or not grounded) and sized <= placed


def _says_where(term: Term) -> bool:
    """Return whether a term depends on a device or a switch, and not only on the form of the call."""
    return term.test == "is" and not term.negated and asks(term.kind, _WHERE)


def _covered(condition: Condition, candidates: dict[Term, int]) -> int:
    covered = -1
    for term in condition:
        covered &= candidates[term]
    return covered

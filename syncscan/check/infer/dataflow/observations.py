"""Runtime facts in the analysis: the observed devices of parameters, results and attributes.

A runtime fact restricts the value inferred from the source: options that were never observed are dropped.
`BOTTOM` stays `BOTTOM` up to the stratum of declarations. From then on, the observed value takes its place. A
rising value is therefore always restricted by the same facts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from syncscan.check.infer.domain.basic import (
    BOOL,
    FLOAT,
    INT,
    NDARRAY,
    NONE,
    STRING,
    list_of,
    table,
)
from syncscan.check.infer.domain.lattice import REST, items_of_table, join_all
from syncscan.check.infer.domain.value import BOTTOM, TOP, AbstractValue, refine
from syncscan.check.infer.source.index import Class, Function, Module
from syncscan.facts import ABSENT, RETURN, FactSet, Observed, Word, parse_word, syntax_of
from syncscan.model import Confidence, Device, Kind
from syncscan.words import noun

_DEVICES = {"gpu": Device.CUDA, "host": Device.CPU, "pinned": Device.CPU, "elsewhere": Device.OTHER}
_PLAIN = {"int": INT, "float": FLOAT, "bool": BOOL, "text": STRING, "none": NONE}
_KINDS = {"list": Kind.LIST, "set": Kind.SET, "dict": Kind.DICT, "tuple": Kind.TUPLE}
_NUMBERS = frozenset({"int", "float", "bool"})
_HOLDERS = frozenset(_KINDS.values())


class Looking(Protocol):
    """The instruction that queries runtime facts."""

    @property
    def function(self) -> Function:
        """The function of the instruction."""

    def declare(self) -> bool:
        """Return whether the current stratum answers open questions by declarations."""

    def saw(self, text: str, where: Function, known: AbstractValue, seen: AbstractValue) -> None:
        """Record an observed value beside the inferred one, for the evidence."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The observed value of one name in a function, with the text of its evidence.

    ``whole`` says that every observation has an abstract value. ``keys`` has the observations under the
    constant keys of a dictionary; ``value`` is without them.
    """

    value: AbstractValue
    whole: bool
    where: Function
    text: str
    keys: Mapping[str, Seen] = field(default_factory=dict)

    @property
    def holds_gpu(self) -> bool:
        """True if the value or its contents were on the GPU."""
        return self.value.holds_gpu or any(under.holds_gpu for under in self.keys.values())

    def part(self, value: AbstractValue) -> Seen:
        """Return the observation of an item."""
        return replace(self, value=value, whole=True, keys={})


class Observations:
    """The runtime facts for the current functions of a project; ``stale`` counts functions changed since the run."""

    def __init__(self, facts: FactSet | None, modules: Sequence[Module]) -> None:
        self._recorded: dict[Function, Observed] = {}
        self._observed: dict[Function, Observed] = {}  # without the keys that a dictionary does not have
        self._seen: dict[tuple[Function | Class, str], Seen | None] = {}
        self.stale = 0
        for module in modules if facts is not None and facts.functions else ():
            assert facts is not None
            for function in module.functions:
                versions = facts.functions.get(f"{module.name}:{function.qualname}")
                if versions is None or function is module.body:
                    continue
                observed = versions.get(syntax_of(function.node))
                if observed is None:
                    self.stale += 1
                else:
                    self._recorded[function] = observed
                    self._observed[function] = _present(observed)

    @property
    def used(self) -> int:
        """The number of functions with runtime facts."""
        return len(self._observed)

    def parameter(self, at: Looking, name: str, value: AbstractValue) -> AbstractValue:
        """Return the value of a parameter restricted to its observations."""
        seen = self._of(at.function, name) if self._observed else None
        return value if seen is None else _met(at, value, seen)

    def result(self, at: Looking, value: AbstractValue) -> AbstractValue:
        """Return the value of one return statement restricted to the observed results of the whole function."""
        seen = self._of(at.function, RETURN) if self._observed else None
        if seen is None or value.kind is Kind.NONE or not seen.whole or _fits(value, seen.value):
            return value
        return value if _is_open(value) and not at.declare() else _met(at, value, seen)

    def attribute(self, at: Looking, cls: Class, name: str, value: AbstractValue) -> AbstractValue:
        """Return the value of an attribute read restricted to its observations.

        A method of the class uses the observations at its own entry. Other functions use those of all its
        methods.
        """
        if not self._observed:
            return value
        reader = at.function
        if reader in self._observed and reader.owner in cls.mro():
            seen = self._of(reader, f"self.{name}")
            return value if seen is None else _met(at, value, seen)
        if (cls, name) not in self._seen:
            methods = (method for base in cls.mro() for method in base.methods.values())
            found = [(method, self._observed[method]) for method in methods if method in self._observed]
            self._seen[cls, name] = _about(f"self.{name}", found)
        seen = self._seen[cls, name]
        return value if seen is None else _met(at, value, seen)

    def has(self, function: Function) -> bool:
        """Return whether a run recorded facts of a function."""
        return function in self._observed

    @property
    def has_recorded(self) -> bool:
        """Return whether a run recorded anything of any function."""
        return bool(self._recorded)

    def recorded(self, function: Function) -> Observed | None:
        """Return all that a run recorded of a function."""
        return self._recorded.get(function)

    def _of(self, function: Function, name: str) -> Seen | None:
        observed = self._observed.get(function)
        if observed is None:
            return None
        if (function, name) not in self._seen:
            self._seen[function, name] = _about(name, [(function, observed)])
        return self._seen[function, name]


def _present(observed: Observed) -> Observed:
    """Return observations without the words for absent keys."""
    if not any(ABSENT in counts for counts in observed.words.values()):
        return observed
    words = {
        name: {word: count for word, count in counts.items() if word != ABSENT}
        for name, counts in observed.words.items()
    }
    return Observed(observed.calls, {name: counts for name, counts in words.items() if counts})


def _about(name: str, found: Sequence[tuple[Function, Observed]]) -> Seen | None:
    """Return the observations of a name that apply to programs with a GPU, with those under keys of a dictionary."""
    seen = _seen(name, found)
    if seen is None:
        return None
    keys = sorted({key for _, observed in found for key in _keys_of(name, observed)})
    inside = {key: under for key in keys if (under := _about(f"{name}[{key}]", found)) is not None}
    return replace(seen, keys=inside)


def _with_gpu(name: str, observed: Observed) -> set[str]:
    """Return the observed words of a name, without host devices seen only in calls without any GPU value.

    A run without a GPU, as in many tests, is no evidence about programs with one. The counts tell which calls
    had no GPU value.
    """
    words = observed.words.get(name, {})
    on_gpu = max(
        sum(count for word, count in counts.items() if "gpu" in word) for counts in observed.words.values()
    )
    without = observed.calls - on_gpu
    if any("gpu" in word for word in words):
        on_host = {word for word in words if "host" in word and "gpu" not in word}
        if sum(words[word] for word in on_host) > without:
            return set(words)
        return words.keys() - on_host
    given = sum(count for word, count in words.items() if word != "none")
    return set(words) if given > without else set()


def _keys_of(name: str, observed: Observed) -> Iterator[str]:
    """Yield the keys of a dictionary under which the facts have observations."""
    for other in observed.words:
        if other.startswith(f"{name}[") and other.endswith("]"):
            yield other[len(name) + 1 : -1]


def _seen(name: str, found: Iterable[tuple[Function, Observed]]) -> Seen | None:
    """Return the abstract value of all observations of a name; None without observations."""
    counts: Counter[str] = Counter()
    telling = set[str]()
    where: Function | None = None
    for function, observed in found:
        if name in observed.words:
            counts.update(observed.words[name])
            telling.update(_with_gpu(name, observed))
            where = where or function
    if where is None or not telling:
        return None
    words = [parse_word(word) for word in sorted(telling)]
    return Seen(_value(words), all(map(_is_whole, words)), where, _text(name, where, counts))


def _text(name: str, function: Function, counts: Mapping[str, int]) -> str:
    on_gpu, total = sum(count for word, count in counts.items() if "gpu" in word), sum(counts.values())
    what = f"the result of `{function.qualname}`" if name == RETURN else f"`{name}`"
    of_all = f" of {total}" if on_gpu != total else ""
    return f"{what} was seen on the GPU in {on_gpu}{of_all} {noun(total, 'call')}"


def _value(words: Sequence[Word]) -> AbstractValue:
    """Return the abstract value of any one of several words; one tensor for all observed devices."""
    words = _telling(words)
    tensors = [word for word in words if word.sort == "tensor"]
    values = [value for word in words for value in _no_tensor(word)]
    if tensors:
        values.append(_tensor(tensors))
    return join_all(values)


def _telling(words: Sequence[Word]) -> list[Word]:
    """Return the words that count.

    Numbers beside a GPU tensor do not count: code that synchronizes does so in the calls with the tensor. A
    container of numbers does not count beside a container with both tensors and other items.
    """
    on_gpu = any(word.sort == "tensor" and word.place == "gpu" for word in words)
    mixed = {word.sort for word in words if _is_mixed(word)}
    return [
        word
        for word in words
        if not (on_gpu and word.sort in _NUMBERS)
        and (word.sort not in mixed or word.items or _sorts_in(word) - _NUMBERS)
    ]


def _no_tensor(word: Word) -> Iterator[AbstractValue]:
    """Yield the abstract value of a word that is no tensor, if it has one."""
    if word.sort in _PLAIN:
        yield _PLAIN[word.sort]
    elif word.sort == "device":
        yield AbstractValue(Kind.DEVICE, _DEVICES[word.place], Confidence.OBSERVED)
    elif word.sort == "array":
        yield refine(NDARRAY, dtype=word.dtype)
    elif word.sort in _KINDS:
        yield _container(word)


def _tensor(words: Sequence[Word]) -> AbstractValue:
    found = [AbstractValue(Kind.TENSOR, _DEVICES[word.place], dtype=word.dtype) for word in words]
    pinned = all(word.place == "pinned" for word in words) or None
    dtype = words[0].dtype if len({word.dtype for word in words}) == 1 else None
    return refine(join_all(found), confidence=Confidence.OBSERVED, pinned=pinned, dtype=dtype)


def _container(word: Word) -> AbstractValue:
    kind = _KINDS[word.sort]
    if word.items is not None:
        return AbstractValue(kind, items=tuple([_value([item]) for item in word.items]))
    return list_of(BOTTOM if _is_mixed(word) else _value(word.inside), kind)


def _is_mixed(word: Word) -> bool:
    """Return whether a container has tensors beside other items, in unknown positions."""
    return len({sort == "tensor" for sort in _sorts_in(word)}) > 1


def _sorts_in(word: Word) -> set[str]:
    """Return the sorts of the items in a container of unknown positions, except None and what was not looked at."""
    return {item.sort for item in word.inside if item.sort not in {"none", "more"}}


def _is_whole(word: Word) -> bool:
    """Return whether a word has an abstract value, with all of its parts."""
    return word.sort != "object" and all(map(_is_whole, (*word.inside, *(word.items or ()))))


def _met(at: Looking, value: AbstractValue, seen: Seen) -> AbstractValue:
    """Return an inferred value restricted to its observations; an inferred None stays."""
    if seen.value.kind is Kind.NONE:  # it was always left out, which says nothing of what it is else
        return value
    if value is BOTTOM and not at.declare():
        return BOTTOM
    unsure = [each for each in _options(value) if _is_open(each) or each.holds_gpu]
    if not unsure and not seen.holds_gpu:
        return value  # which knows more than that it is on the host
    if seen.holds_gpu:
        known = value if seen.whole else BOTTOM
        at.saw(seen.text, seen.where, known, seen.value)
    if not seen.whole:
        return _open_met(at, value, seen)
    sure = [each for each in _options(value) if each not in unsure]
    return join_all([*_options_met(at, value, seen), *_kept(sure, seen)])


def _kept(sure: list[AbstractValue], seen: Seen) -> list[AbstractValue]:
    """Return the host options that stay: None, and all others unless a GPU value was observed."""
    return [each for each in sure if each is NONE or not seen.holds_gpu]


def _options_met(at: Looking, value: AbstractValue, seen: Seen) -> list[AbstractValue]:
    """Return the observed options, each refined by the inferred value."""
    options = [_refined(at, option, value, seen) for option in _options(seen.value)]
    if not seen.keys:
        return options
    return [_with_keys(at, option, seen.keys) if option.kind is Kind.DICT else option for option in options]


def _open_met(at: Looking, value: AbstractValue, seen: Seen) -> AbstractValue:
    """Return the inferred value joined with the observed tensors, where some observations have no abstract value."""
    tensors = [option for option in _options(seen.value) if option.kind is Kind.TENSOR]
    joined = join_all([BOTTOM if tensors and value is TOP else value, *tensors])
    is_table = seen.keys and joined.kind in {Kind.UNKNOWN, Kind.DICT}
    return _with_keys(at, joined, seen.keys) if is_table else joined


def _is_open(value: AbstractValue) -> bool:
    """Return whether the kind of a value is unknown, or the device of a tensor in it."""
    is_tensor = value.kind in {Kind.TENSOR, Kind.MOVED} and value.device is Device.UNKNOWN
    inside = value.items if value.items is not None else (value.element,) if value.element else ()
    return value.kind is Kind.UNKNOWN or is_tensor or any(map(_is_open, inside))


def _refined(at: Looking, option: AbstractValue, value: AbstractValue, seen: Seen) -> AbstractValue:
    """Return one observed option refined by the inferred option of its kind."""
    known = next((each for each in _options(value) if each.kind is option.kind), None)
    if known is None or option.kind is Kind.DEVICE:
        return option
    if option.kind is Kind.TENSOR:
        return _tensor_refined(option, known)
    if option.kind in _HOLDERS:
        return _holder_refined(at, option, known, seen)
    return known


def _tensor_refined(seen: AbstractValue, known: AbstractValue) -> AbstractValue:
    if known.device is not seen.device:
        return refine(seen, ndim=known.ndim)
    sure = max(known.confidence, Confidence.OBSERVED)
    return refine(known, confidence=sure, dtype=seen.dtype, pinned=seen.pinned or known.pinned)


def _holder_refined(at: Looking, option: AbstractValue, known: AbstractValue, seen: Seen) -> AbstractValue:
    """Return an observed container, refined item by item where lengths are known."""
    if option.items is not None and known.items is not None and len(option.items) == len(known.items):
        pairs = zip(option.items, known.items, strict=True)
        return refine(known, items=tuple([_met(at, k, seen.part(s)) for s, k in pairs]))
    if option.items is None and option.element is BOTTOM:  # it was empty
        return known
    if option.items is None and known.items is not None and option.element is not None:
        part = seen.part(option.element)
        return refine(known, items=tuple([_met(at, k, part) for k in known.items]))
    return option


def _with_keys(at: Looking, value: AbstractValue, keys: Mapping[str, Seen]) -> AbstractValue:
    """Return a dictionary refined under the observed keys; values under other keys do not apply to these keys."""
    known = items_of_table(value) or {}
    under = {key: _met(at, known.get(key, BOTTOM), seen) for key, seen in keys.items()}
    return table(known | under | {REST: BOTTOM})


def _fits(value: AbstractValue, seen: AbstractValue) -> bool:
    """Return whether a result already has an inferred device that was also observed; the inferred one is more precise."""
    if value.kind is not Kind.TENSOR or value.device not in {Device.CUDA, Device.CPU, Device.MIXED}:
        return False
    if value.confidence < Confidence.INFERRED:
        return False
    known = next((option for option in _options(seen) if option.kind is Kind.TENSOR), None)
    return known is not None and (known.device is Device.MIXED or known.device is value.device)


def _options(value: AbstractValue) -> tuple[AbstractValue, ...]:
    return value.items or () if value.kind is Kind.UNION else (value,)

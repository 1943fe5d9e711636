"""Abstract values of every kind, and pairs of which one is at most the other, for the property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from syncscan.check.infer.domain.callables import BoundMethod, Partial
from syncscan.check.infer.domain.lattice import REST, join, join_all, table_of
from syncscan.check.infer.domain.value import BOTTOM, DIFFERS, TOP, AbstractValue, refine
from syncscan.model import ON_GPU, Confidence, Device, Kind


class Defined:
    """A function or class of the project, as far as the lattice asks."""

    def __init__(self, key: str) -> None:
        self.key = key


DEFINED = [Defined(key) for key in "abcdefgh"]
CONFIDENCES = (Confidence.PROVED, Confidence.INFERRED, Confidence.ASSUMED)
VIAS = (None, frozenset({""}), frozenset({"x"}), frozenset({"", "y"}))


def _placed(
    kind: Kind, device: Device, via: frozenset[str] | None, facts: tuple[object, ...]
) -> AbstractValue:
    confidence, pinned, dtype, ndim, count = facts
    value = AbstractValue(
        kind, device, confidence, via=via if kind is Kind.DEVICE or device in ON_GPU else None
    )  # type: ignore[arg-type]  # the facts are drawn together, as one tuple of objects
    if kind is Kind.DEVICE or kind is Kind.MOVED:
        return value
    value = refine(value, pinned=pinned, dtype=dtype, ndim=ndim)
    return (
        refine(value, count=count) if kind is Kind.TENSOR else refine(value, device=Device.UNKNOWN, via=None)
    )


facts = st.tuples(
    st.sampled_from(CONFIDENCES),
    st.sampled_from([None, True, False, DIFFERS]),
    st.sampled_from([None, "bool", "int", "float", DIFFERS]),
    st.sampled_from([None, 0, 1, 2, DIFFERS]),
    st.sampled_from([None, 0, 1]),
)
placed_kinds = st.sampled_from([Kind.TENSOR, Kind.TENSOR, Kind.MOVED, Kind.NDARRAY, Kind.DEVICE])
tensor = st.builds(_placed, st.just(Kind.TENSOR), st.sampled_from(Device), st.sampled_from(VIAS), facts)
placed = st.builds(_placed, placed_kinds, st.sampled_from(Device), st.sampled_from(VIAS), facts)
number = st.sampled_from(
    [
        AbstractValue(Kind.NUMBER),
        AbstractValue(Kind.NUMBER, dtype="float"),
        AbstractValue(Kind.NUMBER, dtype="bool"),
        AbstractValue(Kind.NUMBER, dtype="bool", payload=True),
        *[AbstractValue(Kind.NUMBER, dtype="int", payload=each) for each in (None, 0, 1, -1)],
    ]
)
other = st.sampled_from(
    [
        AbstractValue(Kind.NONE),
        *[AbstractValue(Kind.STRING, payload=each) for each in (None, "cuda", "cpu", "cuda:1", "a")],
        *[AbstractValue(Kind.DTYPE, dtype=each) for each in (None, "int", "float")],
        AbstractValue(Kind.INSTANCE, payload="torch.cuda.Event"),
        AbstractValue(Kind.MODULE, payload="torch.relu"),
    ]
)
defined = st.builds(
    AbstractValue,
    st.sampled_from([Kind.INSTANCE, Kind.CLASS, Kind.FUNCTION]),
    payload=st.sampled_from(DEFINED),
)
method = st.builds(BoundMethod, st.sampled_from(DEFINED), defined).map(
    lambda payload: AbstractValue(Kind.FUNCTION, payload=payload)
)
callables = st.one_of(defined, method)


def containers(inside: st.SearchStrategy[AbstractValue]) -> st.SearchStrategy[AbstractValue]:
    """Draw what holds other values."""
    kinds = st.sampled_from([Kind.LIST, Kind.TUPLE])
    keys = st.sampled_from([*"abc", 0, REST])
    return st.one_of(
        st.builds(AbstractValue, kinds, items=st.lists(inside, max_size=3).map(tuple)),
        st.builds(AbstractValue, kinds, element=inside),
        st.builds(AbstractValue, st.just(Kind.SLICE), items=st.lists(number, max_size=2).map(tuple)),
        st.builds(AbstractValue, st.just(Kind.SET), element=inside),
        st.dictionaries(keys, inside, max_size=4).map(table_of),
        st.builds(AbstractValue, st.just(Kind.DICT), element=inside),
    )


def partials(inside: st.SearchStrategy[AbstractValue]) -> st.SearchStrategy[AbstractValue]:
    """Draw ``functools.partial``."""
    made = st.builds(Partial, callables, st.tuples(inside), st.just(()))
    return made.map(lambda payload: AbstractValue(Kind.FUNCTION, payload=payload))


def joined(single: st.SearchStrategy[AbstractValue]) -> st.SearchStrategy[AbstractValue]:
    """Draw unions as they come about."""
    return st.lists(single, min_size=1, max_size=3).map(join_all)


plain = st.one_of(placed, placed, number, other)
known = joined(
    st.recursive(plain, containers, max_leaves=4)
)  # what instructions without a project can be given
single = st.recursive(
    st.one_of(plain, callables, st.sampled_from([BOTTOM, TOP])),
    lambda inside: st.one_of(containers(inside), partials(inside)),
    max_leaves=4,
)
value = joined(single)


@st.composite
def rising(
    draw: st.DrawFn, least: st.SearchStrategy[AbstractValue] = known
) -> tuple[AbstractValue, AbstractValue]:
    """Draw two values of which the first is at most the second."""
    low, how = draw(least), draw(st.integers(0, 2))
    if how == 0:
        return BOTTOM, low
    return low, low if how == 1 else join(low, draw(least))

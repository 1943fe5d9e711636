"""The laws of the lattice of values, on values of every kind."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from syncscan.check.infer.values.callables import BoundMethod, Partial
from syncscan.check.infer.values.lattice import ANYTHING, REST, join, join_all, table_of
from syncscan.model import UNKNOWN, Confidence, Device, Kind, Value

MANY = settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)


class Defined:
    """A function or class of the project, as far as the lattice asks."""

    def __init__(self, key: str) -> None:
        self.key = key


DEFINED = [Defined(key) for key in "abcdefgh"]
PLACED = (Kind.TENSOR, Kind.MOVED, Kind.NDARRAY, Kind.DEVICE)
CONSTANTS = (None, 0, 1, True, False, "cuda", "cpu")

placed = st.builds(
    Value,
    st.sampled_from(PLACED),
    st.sampled_from(Device),
    st.sampled_from(Confidence),
    pinned=st.sampled_from([None, True, False]),
    dtype=st.sampled_from([None, "bool", "int"]),
    ndim=st.sampled_from([None, 0, 1]),
)
constant = st.builds(
    Value,
    st.sampled_from([Kind.NUMBER, Kind.STRING, Kind.NONE, Kind.DTYPE]),
    dtype=st.sampled_from([None, "bool", "int"]),
    payload=st.sampled_from(CONSTANTS),
)
defined = st.builds(
    Value, st.sampled_from([Kind.INSTANCE, Kind.CLASS, Kind.FUNCTION]), payload=st.sampled_from(DEFINED)
)
method = st.builds(BoundMethod, st.sampled_from(DEFINED), defined).map(
    lambda payload: Value(Kind.FUNCTION, payload=payload)
)
plain = st.one_of(placed, constant, defined, method, st.sampled_from([UNKNOWN, ANYTHING]))


def containers(inside: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
    kinds = st.sampled_from([Kind.LIST, Kind.TUPLE, Kind.SLICE])
    partial = st.builds(Partial, st.one_of(defined, method), st.tuples(inside), st.just(()))
    return st.one_of(
        st.builds(Value, kinds, items=st.lists(inside, max_size=3).map(tuple)),
        st.builds(Value, kinds, element=inside),
        st.builds(Value, kinds),
        st.dictionaries(st.sampled_from([*"abc", 0, REST]), inside, max_size=4).map(table_of),
        st.builds(Value, st.just(Kind.DICT), element=inside),
        partial.map(lambda payload: Value(Kind.FUNCTION, payload=payload)),
    )


single = st.recursive(plain, containers, max_leaves=4)
value = st.lists(single, min_size=1, max_size=4).map(join_all)  # unions as they come about


@MANY
@given(value, value)
def test_the_order_of_two_does_not_matter(a: Value, b: Value) -> None:
    assert join(a, b) == join(b, a)


@MANY
@given(value, value, value)
def test_the_order_of_many_does_not_matter(a: Value, b: Value, c: Value) -> None:
    assert join(join(a, b), c) == join(a, join(b, c))


@MANY
@given(value)
def test_a_value_joined_with_itself_stays(a: Value) -> None:
    assert join(a, a) == a
    assert join(a, Value(**{name: getattr(a, name) for name in Value.__dataclass_fields__})) == a


@MANY
@given(value, value)
def test_what_is_known_already_adds_nothing(a: Value, b: Value) -> None:
    whole = join(a, b)
    assert join(whole, a) == whole
    assert join(b, whole) == whole


@MANY
@given(value, value, value)
def test_who_knows_more_keeps_knowing_more(a: Value, b: Value, c: Value) -> None:
    less, more = join(a, c), join(join(a, b), c)
    assert join(less, more) == more


@MANY
@given(value)
def test_nothing_and_anything_are_the_ends(a: Value) -> None:
    assert join(UNKNOWN, a) == join(a, UNKNOWN) == a
    assert join(ANYTHING, a) == join(a, ANYTHING) == ANYTHING


def test_two_are_where_the_one_on_the_gpu_is_and_as_sure() -> None:
    placed = [Value(kind, Device.CUDA, sure) for kind in PLACED for sure in Confidence]
    others = [Value(kind, Device.CPU, Confidence.PROVED) for kind in (*PLACED, Kind.NUMBER)]
    unions = [(one, join(one, other)) for one in placed for other in others]
    unions = [(one, whole) for one, whole in unions if whole.kind is Kind.UNION]
    assert {one.kind for one, _ in unions} == set(PLACED)
    assert [
        one for one, whole in unions if (whole.device, whole.confidence) != (Device.CUDA, one.confidence)
    ] == []


def test_every_chain_of_joins_ends() -> None:
    functions = [Value(Kind.FUNCTION, payload=payload) for payload in DEFINED]
    assert join_all(functions[:6]).kind is Kind.UNION
    assert join_all(functions) == ANYTHING
    classes = [Value(Kind.CLASS, payload=Defined(str(number))) for number in range(17)]
    assert join_all(classes[:16]).kind is Kind.UNION
    assert join_all(classes) == ANYTHING


def test_a_dictionary_of_too_many_keys_has_one_value_for_all() -> None:
    def keys(first: int, last: int) -> Value:
        return table_of({key: Value(Kind.TENSOR, Device.CPU) for key in range(first, last)})

    a, b, c = keys(0, 20), keys(15, 32), keys(32, 33)
    assert join(a, b).items is not None
    assert (
        join(join(a, b), c) == join(a, join(b, c)) == Value(Kind.DICT, element=Value(Kind.TENSOR, Device.CPU))
    )
    assert join(join(join(a, b), c), keys(0, 1)) == join(join(a, b), c)


def test_a_place_is_as_sure_as_the_paths_that_lead_there() -> None:
    def on(device: Device, confidence: Confidence) -> Value:
        return Value(Kind.TENSOR, device, confidence)

    proved, inferred, assumed = (
        on(Device.CUDA, sure) for sure in (Confidence.PROVED, Confidence.INFERRED, Confidence.ASSUMED)
    )
    host = on(Device.CPU, Confidence.PROVED)
    assert join(proved, inferred) == join(proved, assumed) == inferred
    assert join(proved, host) == on(Device.MIXED, Confidence.INFERRED)
    assert join(assumed, host) == on(Device.MIXED, Confidence.ASSUMED)
    assert join(host, on(Device.OTHER, Confidence.PROVED)).device is Device.OTHER

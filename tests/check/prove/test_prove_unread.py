"""Python's own functions and sequences read a tensor on the GPU as a number, a truth value or an operand, or leave it unread."""

from __future__ import annotations

import pytest

from tests.check.prove.proving import proved

PROGRAM = """
    from torch import nn
    import collections, itertools
    def step(
        e: {kind}, ns: list[int], pair: tuple[int, int], s: str, keyed: dict[str, int], sorts: dict[int, int],
        xs: list[{kind}], layers: nn.ModuleList, weights: nn.ParameterList, chain: nn.Sequential, anything,
        x: torch.Tensor,
    ) -> None:
        {code}
"""
READS = [
    "ns.pop(e)",
    "ns.insert(e, 1)",
    "ns.index(e)",
    "ns.index(1, e)",
    "ns.count(e)",
    "ns.remove(e)",
    "ns.sort(reverse=e)",
    "ns == [e]",
    "(1, 2) == (e, e)",
    "[[1]] != [[e]]",
    "pair < (e, 1)",
    "keyed == {'a': e}",
    "e in pair",
    "ns *= e",
    "s * e",
    "'%d' % e",
    "enumerate([1], start=e)",
    "enumerate([1], e)",
    "sorted(ns, reverse=e)",
    "round(1.5, e)",
    "int('1', e)",
    "zip(ns, strict=e)",
    "bytes(e)",
    "bytes([e])",
    "bytearray(e)",
    "int.from_bytes([e])",
    "hex(e)",
    "chr(e)",
    "list(map(hex, [e]))",
    "iter(lambda: 1, e)",
    "s.ljust(e)",
    "s.center(e)",
    "s.zfill(e)",
    "s.split(maxsplit=e)",
    "slice(0, e).indices(10)",
    "s[e]",
    "s[:e]",
    "memoryview(b'ab')[e]",
    "layers[e]",
    "weights[e]",
    "chain[:e]",
    "ns[:e] = [1]",
    "del ns[:e]",
    "del ns[e]",
    "collections.deque(ns, e)",
    "itertools.islice(ns, e)",
    "bool(sum(ns, e))",
    "complex(1, e)",
    "complex(imag=e)",
    "slice(0, e) == slice(0, 1)",
    "[slice(e)] == [slice(1)]",
    "list(iter(lambda: e, 1))",
    "for each in iter(lambda: e, 1): pass",
    "x.size(e)",
    "x.stride(e)",
    "torch.device('cuda', e)",
    "torch.device('cuda', index=e)",
]
KEEPS = [
    "xs.append(e)",
    "xs.insert(0, e)",
    "keyed.get('a', e)",
    "{}.setdefault('a', e)",
    "sorts[e] = 1",
    "sorts[e]",
    "{e}",
    "len(e)",
    "id(e)",
    "isinstance(e, torch.Tensor)",
    "slice(0, e)",
    "max(ns, default=e)",
    "sum(ns, e)",
    "itertools.repeat(e, 3)",
    "itertools.chain([e])",
    "'a' == e",
    "[e] == []",
    "(e, 1) == ('a', None)",
    "'a' in (e,)",
    "list(iter(lambda: e, None))",
    "slice(0, e) == slice(None)",
]


@pytest.mark.parametrize("code", READS)
def test_an_argument_that_python_reads_may_be_no_tensor_on_the_gpu(code: str) -> None:
    assert not proved(PROGRAM.format(kind="torch.Tensor", code=code)).is_proved


@pytest.mark.parametrize("code", READS)
def test_a_number_is_proved_there(code: str) -> None:
    assert proved(PROGRAM.format(kind="int", code=code)).is_proved


@pytest.mark.parametrize("code", KEEPS)
def test_an_argument_that_is_only_kept_is_proved(code: str) -> None:
    assert proved(PROGRAM.format(kind="torch.Tensor", code=code)).is_proved


@pytest.mark.parametrize(
    "code", ["ns.pop(*xs)", "s.split(**{'maxsplit': e})", "anything[e]", "ns == anything"]
)
def test_what_is_passed_on_or_not_known_may_be_read(code: str) -> None:
    assert not proved(PROGRAM.format(kind="torch.Tensor", code=code)).is_proved


def test_an_array_copies_the_items_of_a_list() -> None:
    program = "import numpy as np\ndef step(a: np.ndarray, e: {}) -> None:\n    a * [e]\n    a == [e]\n"
    assert [each.finding.line for each in proved(program.format("torch.Tensor")).obstacles] == [4, 5]
    assert proved(program.format("int")).is_proved

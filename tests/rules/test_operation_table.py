"""The operation table says only what it means, and an entry that cannot be understood is named."""

from __future__ import annotations

import pytest

from syncscan.errors import SyncscanError
from syncscan.ops import Effect, load_table, parse_table


@pytest.mark.parametrize(
    ("name", "found_as"),
    [
        ("torch.Tensor.item", "torch.Tensor.item"),
        ("torch.Tensor.repeat_interleave", "torch.repeat_interleave"),
        ("torch.Tensor.cumsum_", "torch.cumsum"),
        ("torch.nn.functional.softmax", "torch.softmax"),
        ("torch.cuda.item", None),
        ("numpy.item", None),
    ],
)
def test_an_operation_is_found_under_the_names_it_goes_by(name: str, found_as: str | None) -> None:
    found = load_table().find(name)
    assert (found.name if found else None) == found_as


def test_what_was_measured_not_to_wait_has_no_blocking_case() -> None:
    table = load_table()
    silent = [
        "nonzero_static",
        "masked_fill",
        "index_fill",
        "multinomial",
        "topk",
        "sort",
        "cumsum",
        "randperm",
        "det",
    ]
    assert [
        name for name in silent if any(not c.when or c.effect is not Effect.SCALAR for c in blocks(name))
    ] == []
    (checked,) = table.operations["torch.linalg.cholesky_ex"].blocks
    assert ("check_errors", "true") in {(term.arg, term.kind) for term in checked.when}


def blocks(name: str) -> tuple[object, ...]:
    found = load_table().find(f"torch.{name}")
    assert found is not None
    return found.blocks


@pytest.mark.parametrize(
    ("entry", "complaint"),
    [
        ('blocks = [{ as = "sometimes" }]', "blocks: as: 'sometimes' is no way to block; it is one of"),
        ('blocks = [{ as = "upload", when = "input is blue" }]', "unknown kind 'blue'"),
        ('blocks = [{ as = "upload", when = "src is gpu" }]', "names 'src', which is not in args"),
        ('blocks = [{ as = "upload", when = "input gpu" }]', "not a term of a condition: 'input gpu'"),
        ('blocks = [{ as = "upload", if = "input is gpu" }]', "unknown key 'if' in blocks"),
        ('result = "elsewhere"', "unknown result 'elsewhere'"),
        ('reduces = "dim"', "reduces names 'dim', which is not in args"),
        ("colour = 1", "unknown key 'colour'"),
    ],
)
def test_an_entry_that_cannot_be_understood_is_named(entry: str, complaint: str) -> None:
    with pytest.raises(SyncscanError, match=complaint) as error:
        parse_table(f'["torch.thing"]\n{entry}\n')
    assert str(error.value).startswith("ops.toml: [torch.thing]: ")
    assert "\n" not in str(error.value)

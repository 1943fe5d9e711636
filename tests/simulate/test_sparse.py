"""Sparse tensors on the simulated GPU: where they are, what waits, and that products of them are what they are."""

from __future__ import annotations

import pytest

from syncscan import simulated_cuda

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:Sparse:UserWarning")

LAYOUTS = {
    "coo": lambda dense: dense.to_sparse(),
    "csr": lambda dense: dense.to_sparse_csr(),
    "csc": lambda dense: dense.to_sparse_csc(),
    "bsr": lambda dense: dense.to_sparse_bsr((2, 2)),
    "bsc": lambda dense: dense.to_sparse_bsc((2, 2)),
}
PARTS = {
    "coo": ("indices", "values"),
    "csr": ("crow_indices", "col_indices", "values"),
    "bsr": ("crow_indices", "col_indices", "values"),
    "csc": ("ccol_indices", "row_indices", "values"),
    "bsc": ("ccol_indices", "row_indices", "values"),
}


def dense(device: str = "cuda") -> torch.Tensor:
    return (torch.eye(8) * 2 + 1).to(device)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_sparse_tensor_its_transpose_and_its_parts_are_where_the_dense_one_was(layout: str) -> None:
    with simulated_cuda():
        made = LAYOUTS[layout](dense())
        seen = [made, made.t(), made.transpose(0, 1), *(getattr(made, part)() for part in PARTS[layout])]
        assert {str(tensor.device) for tensor in seen} == {"cuda:0"}
        assert str(made.cpu().device) == str(made.cpu().t().device) == "cpu"


def test_what_a_sparse_tensor_is_taken_apart_into_is_where_it_was() -> None:
    with simulated_cuda():
        made = dense().to_sparse()
        seen = [*made, *made.unbind(1), made[0], made.select(0, 1)]
        assert {str(tensor.device) for tensor in (*seen, *(part.coalesce().values() for part in seen))} == {
            "cuda:0"
        }


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("side", ["left", "right", "both", "transposed"])
def test_a_product_is_what_it_is_on_the_cpu(layout: str, side: str) -> None:
    def product(device: str) -> torch.Tensor:
        sparse, other = LAYOUTS[layout](dense(device)), dense(device)
        pairs = {
            "left": (sparse, other),
            "right": (other, sparse),
            "both": (sparse, sparse),
            "transposed": (sparse.t(), other),
        }
        left, right = pairs[side]
        return (left @ right).to_dense()

    wanted = _result_or_error(product, "cpu")
    with simulated_cuda():
        found = _result_or_error(product, "cuda")
        if isinstance(wanted, str):
            assert found == wanted
        else:
            assert found.is_cuda
            torch.testing.assert_close(found.cpu(), wanted)


def _result_or_error(product, device: str) -> torch.Tensor | str:
    try:
        return product(device)
    except RuntimeError as error:
        return str(error).split("\n")[0]


@pytest.mark.parametrize(
    ("call", "waits"),
    [
        (lambda s: s.coalesce(), False),
        (lambda s: s.t().coalesce(), True),
        (lambda s: s + s, True),
        (lambda s: s * 2.0, False),
        (lambda s: torch.sparse.mm(s, s.to_dense()), False),
        (lambda s: torch.sparse.mm(s.to_dense(), s), True),
        (lambda s: torch.sparse.mm(s, s), True),
        (lambda s: torch.sparse.sum(s, 0), True),
        (lambda s: torch.sparse.sum(s, (0, 1)), False),
        (lambda s: s.values(), False),
        (lambda s: s.to_sparse_csr(), False),
        (lambda s: s.to_sparse_csr().to_sparse_coo(), False),
        (lambda s: s.indices().tolist(), True),
        (lambda s: s[0], True),
    ],
)
def test_what_was_measured_to_wait_waits(call, waits: bool) -> None:
    with simulated_cuda() as seen:
        sparse = dense().to_sparse()
        seen.clear()
        call(sparse)
        assert bool(seen) is waits


def test_a_factorisation_that_the_cpu_lacks_stands_for_itself_and_for_no_other_call() -> None:
    with simulated_cuda():
        matrix = dense()
        factors, pivots = torch.linalg.lu_factor(matrix, pivot=False)
        assert factors.shape == matrix.shape
        assert factors.is_cuda
        factors, pivots = torch.linalg.lu_factor(matrix)
        torch.testing.assert_close(torch.linalg.lu_solve(factors, pivots, matrix).cpu(), torch.eye(8))


@pytest.mark.parametrize("layout", ["coo", "csr", "csc"])
def test_parts_given_by_name_say_where_a_tensor_is_made(layout: str) -> None:
    with simulated_cuda():
        whole = LAYOUTS[layout](dense()).detach()
        parts = {
            name: getattr(whole.coalesce() if layout == "coo" else whole, name)() for name in PARTS[layout]
        }
        made = getattr(torch, f"sparse_{layout}_tensor")(**parts, size=(8, 8))
        assert made.is_cuda
        assert all(part.is_cuda for part in parts.values())
        assert torch.as_tensor(dtype=torch.float64, data=parts["values"]).is_cuda

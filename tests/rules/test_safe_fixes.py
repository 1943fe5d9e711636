"""Every safe fix against torch: what is written before and after it gives the same, whatever the literals and dtypes.

A program is drawn, checked and fixed as text, and both forms run on the CPU, where the device is one of the host. torch
fills a single element there without the check that it makes on a GPU (and on the CPU for more elements), so this check
is made here too. `pytest -m gpu` runs both forms unchanged on a GPU.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.overrides import TorchFunctionMode

from syncscan.check.fix import apply_edits, fixable
from tests.rules.outcomes import alike, described
from tests.texts import check_texts

DTYPES = sorted({str(value) for value in vars(torch).values() if isinstance(value, torch.dtype)})
DEFAULT_DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
NUMBERS = [
    "0", "1", "127", "128", "255", "257", "2049", "65520", "2147483648", "9223372036854775807",
    "0.0", "0.5", "1.0", "127.5", "65504.0", "1e5", "1e39", "1e-300", "True", "False", "1j",
    'float("inf")', 'float("nan")',
]  # fmt: skip
SPELLINGS = ["0x7f", "1_000", "10**3", "n", "1e5j", "9223372036854775808", "240.0"]
HEAD = 'import torch\nd = torch.device("cuda")\nn = 3\n'


class FillsAsOnTheGpu(TorchFunctionMode):
    """Raises where a number does not fit what is filled with it, also for a single element, and where there is no fill."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **kwargs or {})
        if func in {torch.full, torch.Tensor.fill_}:
            torch.empty(2, dtype=result.dtype).fill_(args[1] if len(args) > 1 else kwargs["fill_value"])
        if func is torch.zeros and str(result.dtype).startswith("torch.bits"):
            raise NotImplementedError
        return result


@st.composite
def numbers(draw: st.DrawFn) -> str:
    sign = draw(st.sampled_from(["", "", "-", "+"]))
    number = st.one_of(
        st.sampled_from(NUMBERS + SPELLINGS), st.integers(0, 300).map(str), st.floats(0, 1e6).map(repr)
    )
    return sign + draw(number)


@st.composite
def choices(draw: st.DrawFn) -> str:
    """A number, or one of two."""
    test = draw(st.sampled_from(["", "", "n", "n > 5"]))
    return f"{draw(numbers())} if {test} else {draw(numbers())}" if test else draw(numbers())


def dtypes() -> st.SearchStrategy[str]:
    """How a dtype is given, or that it is not."""
    return st.one_of(
        st.just(""), st.sampled_from(DTYPES), st.sampled_from(["None", "float", "int", "bool"])
    ).map(lambda dtype: f"dtype={dtype}" if dtype else "")


def call(name: str, *arguments: str) -> str:
    return f"{name}({', '.join(argument for argument in arguments if argument)})"


@st.composite
def constructors(draw: st.DrawFn) -> str:
    """`torch.tensor` of a number, straight on the GPU."""
    device = draw(st.sampled_from(["device=d", 'device="cuda"']))
    gradient = draw(st.sampled_from(["", "", "requires_grad=True", "requires_grad=False"]))
    data = draw(st.sampled_from(["", "", "data="])) + draw(choices())
    return "y = " + call("torch.tensor", data, *draw(st.permutations([device, draw(dtypes()), gradient])))


@st.composite
def uploads(draw: st.DrawFn) -> str:
    """What a factory makes in host memory, copied to the GPU."""
    size = draw(st.sampled_from(["3", "(3,)", "[2, 3]", "2, 3", "()", "0", "size=(2, 3)", "1", "n", "-1"]))
    square = draw(st.sampled_from(["3", "2, 3", "n=2", "0"]))
    layout = draw(st.sampled_from(["", "", "layout=torch.strided", "layout=torch.sparse_coo"]))
    dtype = draw(dtypes())
    made = draw(
        st.sampled_from(
            [
                call("torch.zeros", size, dtype, layout),
                call("torch.ones", size, dtype, layout),
                call("torch.empty", size, dtype, layout),
                call("torch.empty", "2, 3, 2, 2", dtype, "memory_format=torch.channels_last"),
                call("torch.eye", square, dtype),
                call("torch.full", "(3,)", draw(numbers()), dtype, layout),
                call("torch.full", "()", draw(numbers()), dtype),
                call("torch.full", "size=(2, 3)", f"fill_value={draw(numbers())}", dtype),
                call("torch.tensor", draw(choices()), dtype),
                call("torch.tensor", f"data={draw(numbers())}", dtype),
                call("torch.arange", "5", dtype),
                call("torch.linspace", "0, 1, 7", dtype),
            ]
        )
    )
    return f"y = {made}" + draw(
        st.sampled_from(
            [
                ".cuda()",
                ".to(d)",
                ".to(device=d)",
                '.to("cuda")',
                ".to(d, torch.float32)",
                ".to(d, copy=True)",
            ]
        )
    )


@st.composite
def pinned_uploads(draw: st.DrawFn) -> str:
    """Data made on the spot and uploaded without blocking."""
    data = draw(st.sampled_from(["[1, 2]", "[]", "3", "[[1.0], [2.0]]", "[True]", "[1e5, -1.0]", "(1, 2)"]))
    gradient = draw(st.sampled_from(["", "", "requires_grad=True"]))
    upload = draw(st.sampled_from(['.to("cuda", non_blocking=True)', ".to(d, non_blocking=True)"]))
    return "y = " + call("torch.tensor", data, draw(dtypes()), gradient) + upload


@st.composite
def stores(draw: st.DrawFn) -> str:
    """A number stored in one element."""
    shape, index = draw(
        st.sampled_from(
            [
                ("3", "1"),
                ("3", "-1"),
                ("3", "n"),
                ("3", "n - 1"),
                ("3", "5"),
                ("2, 3", "1, 2"),
                ("2, 3", "-2, n - 1"),
                ("2, 3", "1"),
                ("2, 3", "0, 3"),
                ("3", "True"),
            ]
        )
    )
    make = draw(
        st.sampled_from(
            [
                "torch.zeros({shape}, {dtype}device=d)",
                'torch.ones({shape}, {dtype}device="cuda")',
                "torch.zeros({shape}, {dtype}device=d).t()",
                "torch.zeros({shape}, {dtype}device=d, requires_grad=True)",
                "torch.zeros({shape}, {dtype}device=d, requires_grad=True) * 2",
                "torch.zeros(1, {dtype}device=d).expand({shape})",
            ]
        )
    )
    dtype = "" if index in {"n", "5", "0, 3"} else draw(dtypes())  # one mistake at a time
    made = make.format(shape=shape, dtype=f"{dtype}, " if dtype else "")
    return f"y = {made}; y[{index}] = {draw(numbers())}"


def fixed(lines: list[str]) -> list[tuple[str, str]]:
    """The lines that the safe fixes change, and what they become; each line is a program of its own."""
    text = HEAD + "\n".join(lines)
    result = check_texts(text)
    assert not result.failed
    after = apply_edits(text, fixable(result.findings, unsafe=False)).removeprefix(HEAD).split("\n")
    return [pair for pair in zip(lines, after, strict=True) if pair[0] != pair[1]]


def on_the_host(text: str) -> str:
    """The program for a machine without a GPU."""
    return text.replace('"cuda"', '"cpu"').replace(
        ".cuda(", '.to("cpu", ' if "non_blocking" in text else '.to("cpu"'
    )


def outcome(text: str) -> tuple[object, ...]:
    """What a program leaves in ``y``, or the error that ends it."""
    names: dict[str, Any] = {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(text, names)
    except Exception as error:
        return (type(error),)
    return described(names["y"], content="empty" not in text)


def compare_on_the_host(before: str, after: str) -> None:
    """Assert that a line and its fixed form come to the same, with the GPU checks of torch."""
    expected = outcome(on_the_host(HEAD + before))
    with FillsAsOnTheGpu():
        found = outcome(on_the_host(HEAD + after))
    assert alike(expected, found), f"{expected} before, {found} after: {after}"
    if len(expected) > 1 and not torch.cuda.is_available():  # a right program fails alike where no GPU is
        compare_on_a_gpu(before, after)


def compare_on_a_gpu(before: str, after: str) -> None:
    """The same, unchanged."""
    expected, found = outcome(HEAD + before), outcome(HEAD + after)
    assert alike(expected, found), f"on the GPU {expected} before, {found} after: {after}"


GPU = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a real NVIDIA GPU")]
on_both = pytest.mark.parametrize(
    "compare", [compare_on_the_host, pytest.param(compare_on_a_gpu, marks=GPU)], ids=["host", "gpu"]
)
Compare = Callable[[str, str], None]


@contextmanager
def default_dtype(dtype: torch.dtype) -> Iterator[None]:
    usual = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(usual)


def holds_numbers(dtype: str) -> bool:
    """Whether torch fills a tensor of this dtype at all."""
    return len(outcome(f"import torch\ny = torch.ones(2, dtype={dtype})")) > 1


SIGNED = [f"{sign}{number}" for number in NUMBERS for sign in ("", "-")]
LINES = {
    "constructor": "y = torch.tensor({number}, {dtype}device=d)",
    "upload": "y = torch.tensor({number}, {dtype}).cuda()",
    "fill": "y = torch.full((2,), {number}, {dtype}).to(d)",
    "store": "y = torch.zeros(2, {dtype}device=d); y[1] = {number}",
}


@pytest.mark.long
@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
@on_both
def test_every_number_with_every_dtype(compare: Compare, line: str) -> None:
    changed = fixed(
        [
            line.format(number=number, dtype=f"dtype={dtype}, ")
            for dtype in DTYPES
            for number in (SIGNED if holds_numbers(dtype) else SIGNED[:4])
        ]
    )
    assert changed
    for before, after in changed:
        compare(before, after)


@pytest.mark.long
@pytest.mark.parametrize("dtype", DEFAULT_DTYPES, ids=str)
@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
@on_both
def test_every_number_with_every_default_dtype(compare: Compare, line: str, dtype: torch.dtype) -> None:
    changed = fixed([line.format(number=number, dtype="") for number in SIGNED])
    assert changed
    with default_dtype(dtype):
        for before, after in changed:
            compare(before, after)


@on_both
def test_every_dtype_of_what_is_made(compare: Compare) -> None:
    made = ("zeros", "ones", "empty")
    changed = fixed([f"y = torch.{name}(3, dtype={dtype}).cuda()" for name in made for dtype in DTYPES])
    assert {before for before, _ in changed} >= {
        f"y = torch.{name}(3, dtype=torch.{dtype}).cuda()"
        for name in made
        for dtype in ("bool", "uint8", "float16")
    }
    for before, after in changed:
        compare(before, after)


FORMS = {
    "constructors": constructors(),
    "uploads": uploads(),
    "pinned-uploads": pinned_uploads(),
    "stores": stores(),
}


@pytest.mark.long
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@on_both
@settings(max_examples=25, deadline=None)
@given(data=st.data(), default=st.sampled_from(DEFAULT_DTYPES))
def test_a_safe_fix_changes_nothing(
    compare: Compare, form: st.SearchStrategy[str], data: st.DataObject, default: torch.dtype
) -> None:
    with default_dtype(default):
        for before, after in fixed(data.draw(st.lists(form, min_size=1, max_size=40))):
            compare(before, after)


@pytest.mark.parametrize(("dtype", "is_safe"), [("", True), (", dtype=torch.uint16", False)])
def test_what_only_the_gpu_can_make_is_not_made_there_instead(dtype: str, is_safe: bool) -> None:
    """`torch.eye(3, dtype=torch.uint16)` is an error on the CPU and none on the GPU (torch 2.11, H200)."""
    assert bool(fixed([f"y = torch.eye(3{dtype}).cuda()"])) is is_safe

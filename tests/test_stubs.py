"""Each stub is well formed, names parameters that the API has, and says what a simulated GPU shows."""

from __future__ import annotations

import pytest

from benchmarks.stubs import differences_of, version
from syncscan.errors import SyncscanError
from syncscan.ops import stubs

ABOUT = '[package]\nreviewed = "1.0"\n'


def test_packages_have_stubs():
    assert {"numpy", "einops", "torch.utils.data", "torch.distributions", "transformers"} <= stubs.packages()


def test_an_exact_name_goes_before_a_pattern_and_a_longer_pattern_before_a_shorter_one():
    found = [
        stubs.of(f"torch.distributions.{name}")
        for name in ("Categorical.sample", "Gamma.sample", "Gamma.none")
    ]
    assert [stub and stub.operation.dtype for stub in found] == ["int", "float", None]
    assert stubs.of("numpy.linspace").operation.dtype == "float"
    assert stubs.of("scipy.ndimage.zoom").operation.result == "ndarray"
    assert stubs.of("unknown_package.f") is None


def test_host_data_for_an_uploaded_parameter_blocks():
    stub = stubs.parse("p", ABOUT + '["p.f"]\nargs = ["x"]\nuploads = ["x"]\n')["p.f"]
    (case,) = stub.operation.blocks
    assert (case.effect.value, case.when[0].kind) == ("upload", "host data")


def test_other_names_of_an_api_say_the_same():
    found = stubs.parse("p", ABOUT + '["p.f"]\nalso = ["p.inner.f"]\nresult = "cpu"\n')
    assert {
        name: (stub.operation.name, stub.operation.result, stub.reviewed) for name, stub in found.items()
    } == {
        "p.f": ("p.f", "cpu", "1.0"),
        "p.inner.f": ("p.inner.f", "cpu", "1.0"),
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('["p.f"]\n', "reviewed"),
        (ABOUT + '["q.f"]\n', "is not of p"),
        (ABOUT + '["p.f"]\nalso = ["p.f"]\n', "is there twice"),
        (ABOUT + '["p.f"]\nuploads = ["x"]\n', "uploads names 'x', which is not in args"),
        (ABOUT + '["p.f"]\nuploads = "x"\n', "uploads must be a list of texts"),
        (ABOUT + '["p.f"]\nitems = "moon"\n', "items is 'moon', which is no place"),
        (ABOUT + '["p.f"]\nresult = "moon"\n', "unknown result 'moon'"),
        (ABOUT + '["p.f"]\nexamples = "p.f()"\n', "examples must be a list of texts"),
        (ABOUT + '["p.f"]\nmoon = 1\n', "unknown key 'moon'"),
        (ABOUT + '["p.f"]\ncallbacks = [{ name = "fun" }]\n', "a table of name, per and gets"),
        (ABOUT + '["p.f"]\ncallbacks = [{ name = "fun", per = "moon" }]\n', "per item, once, step"),
        (ABOUT + '["p.f"]\ncallbacks = [{ name = "fun", per = "step", gets = ["moon"] }]\n', "gets names 'moon'"),
    ],
)  # fmt: skip
def test_a_bad_entry_is_named(text, message):
    with pytest.raises(SyncscanError, match=message):
        stubs.parse("p", text)


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("package", sorted(stubs.packages()))
def test_a_package_does_what_its_stubs_say(package):
    if not version(package):
        pytest.skip(f"{package} is not installed")
    assert list(differences_of(package)) == []


def test_a_compiler_that_ran_before_makes_no_difference(monkeypatch):
    distribution = pytest.importorskip("torch.distributions").Distribution
    monkeypatch.setattr(distribution, "_validate_args", False)  # as `torch.compile` leaves it
    assert list(differences_of("torch.distributions")) == []
    assert not distribution._validate_args


DIFFERENT = {
    "parameters": ('["numpy.argsort"]\nargs = ["x"]\nresult = "ndarray"\n', "has the parameters a, axis"),
    "a name": ('["numpy.nothing"]\n', "is not there"),
    "a callback": (
        '["numpy.sort"]\nargs = ["a"]\ncallbacks = [{ name = "f", per = "step" }]\n',
        "a method f",
    ),
    "a place": (
        '["numpy.roll"]\nargs = ["a"]\nresult = "cpu"\nexamples = ["numpy.roll(array, 1)"]\n',
        "returns ndarray",
    ),
    "a block": (
        '["numpy.roll"]\nargs = ["a"]\nblocks = [{ as = "always" }]\nexamples = ["numpy.roll(array, 1)"]\n',
        "does not block as `always`",
    ),
    "a dtype": (
        '["numpy.roll"]\nargs = ["a"]\nresult = "ndarray"\ndtype = "int"\nexamples = ["numpy.roll(array, 1)"]\n',
        "returns float",
    ),
    "an error": (
        '["numpy.roll"]\nargs = ["a"]\nresult = "ndarray"\nexamples = ["numpy.roll()"]\n',
        "fails: ",
    ),
}


@pytest.mark.parametrize("what", DIFFERENT)
def test_a_stub_that_says_something_else_is_named(what, monkeypatch):
    text, message = DIFFERENT[what]
    entries = stubs.parse("numpy", ABOUT + text)
    monkeypatch.setattr(stubs, "load", {"numpy": entries}.__getitem__)
    assert message in "\n".join(differences_of("numpy"))

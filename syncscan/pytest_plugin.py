"""Pytest plugin: ``--syncscan`` counts the synchronizations of every test, and ``limit_syncs`` sets a test's limit.

    @pytest.mark.limit_syncs(0, warmups=1)
    def test_step(): ...

runs the test once without counting, then once more. The test fails if the CPU was blocked more often
than the limit; the message names the lines. Without ``--syncscan`` the marker does nothing.
"""

from __future__ import annotations

import argparse
import functools
import inspect
import sys
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from syncscan.words import plural

if TYPE_CHECKING:
    from syncscan.guard import count_syncs

PROPERTY = "syncscan"
MAX_LINES = 10
MODES = ("gpu", "simulate")
_SIMULATES = pytest.StashKey[bool]()
_COUNTED = pytest.StashKey["_Counted"]()


@dataclass(frozen=True)
class Limit:
    """The arguments of ``limit_syncs(limit, warmups=0)``."""

    limit: int
    warmups: int = 0


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--syncscan``."""
    parser.getgroup("syncscan").addoption(
        "--syncscan",
        nargs="?",
        const="gpu",
        type=_mode,
        metavar="MODE",
        help="Count how often each test blocks the CPU until the GPU has finished, and apply limit_syncs.",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Simulate from here on: a conftest.py and what it imports may ask for the GPU too."""
    if early_config.known_args_namespace.syncscan == "simulate":
        _simulate(early_config)


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line(
        "markers",
        "limit_syncs(limit, warmups=0): with --syncscan, fail if the test synchronizes more often"
        " than `limit` times, after `warmups` runs that are not counted",
    )
    if config.getoption("syncscan") == "simulate" and _SIMULATES not in config.stash:
        _simulate(config)  # a conftest.py loaded this plugin


def _simulate(config: pytest.Config) -> None:
    """Give the whole session a simulated GPU, before any test module is imported."""
    from syncscan.config import find_config  # noqa: PLC0415 (needed only where tests ask for it)
    from syncscan.errors import ConfigError  # noqa: PLC0415
    from syncscan.simulate.context import simulated_cuda  # noqa: PLC0415

    try:
        simulation = simulated_cuda(operations=find_config(config.rootpath).operations)
        simulation.__enter__()
    except (ImportError, ConfigError) as error:
        raise pytest.UsageError(f"--syncscan=simulate: {error}") from None

    def end() -> None:
        simulation.__exit__(None, None, None)

    config.add_cleanup(end)
    config.stash[_SIMULATES] = True


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a limited test where there is nothing to count."""
    if item.config.getoption("syncscan") and _limit(item) is not None and not _has_cuda():
        pytest.skip("limit_syncs counts synchronizations with a GPU, and torch finds none here")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Count the synchronizations of a test, after its warm-up runs, and apply its limit."""
    if not item.config.getoption("syncscan"):
        return (yield)
    limit = _limit(item)
    counted = _Counted(limit.warmups if limit is not None else 0)
    try:
        yield from _counting(item, counted)
    except BaseException:
        if limit is not None and (message := _excess(limit, counted.seen)):
            item.add_report_section("call", "limit_syncs", message)
        raise
    finally:
        if counted.began:
            item.user_properties.append((PROPERTY, counted.seen.total))
    if limit is not None:
        _apply(limit, counted)


def _counting(item: pytest.Item, counted: _Counted) -> Generator[None, None, None]:
    """Run a test with its synchronizations counted."""
    if counted.needs_no_call_of_ours(item):
        item.stash[_COUNTED] = counted
        yield
    elif isinstance(item, pytest.Function):
        function = item.obj
        item.obj = counted.wrap(function)
        try:
            yield
        finally:
            item.obj = function
    else:
        yield


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, Any, Any]:
    """Count around the call of a test function, with no frame of this plugin on its stack."""
    counted = pyfuncitem.stash.get(_COUNTED, None)
    if counted is None:
        return (yield)
    counted.began = True
    with counted.seen:
        return (yield)


class _Counted:
    """The synchronizations of a test function, counted wherever the function runs: in any thread, task or context."""

    def __init__(self, warmups: int) -> None:
        from syncscan.guard import count_all_syncs  # noqa: PLC0415 (needed only where tests ask for it)

        self.seen = count_all_syncs()
        self.began = False
        self._warmups = warmups

    def needs_no_call_of_ours(self, item: pytest.Item) -> bool:
        """Return whether pytest itself calls the function of a test, once, in the context of the test."""
        if not isinstance(item, pytest.Function) or self._warmups or inspect.iscoroutinefunction(item.obj):
            return False
        unittest = sys.modules.get("unittest")
        return unittest is None or item.cls is None or not issubclass(item.cls, unittest.TestCase)

    def wrap(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function, or coroutine function, with warm-up runs and a region around it."""
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def run(*args: Any, **kwargs: Any) -> Any:
                for _ in range(self._warmups):
                    await function(*args, **kwargs)
                self.began = True
                with self.seen:
                    return await function(*args, **kwargs)

        else:

            @functools.wraps(function)
            def run(*args: Any, **kwargs: Any) -> Any:
                for _ in range(self._warmups):
                    function(*args, **kwargs)
                self.began = True
                with self.seen:
                    return function(*args, **kwargs)

        return run


def _apply(limit: Limit, counted: _Counted) -> None:
    if not counted.began:
        message = (
            "limit_syncs cannot count the synchronizations of this test: its function is not called by pytest"
        )
        pytest.fail(f"{message} but by an IsolatedAsyncioTestCase or another plugin", pytrace=False)
    if message := _excess(limit, counted.seen):
        pytest.fail(message, pytrace=False)


def _excess(limit: Limit, seen: count_syncs) -> str:
    """Return the synchronizations of a test beyond its limit, or ""."""
    if seen.total <= limit.limit:
        return ""
    lines = [f"  {count} x {sync}" for sync, count in seen.sites.most_common(MAX_LINES)]
    return "\n".join(
        [f"the CPU was blocked {plural(seen.total, 'time')}, the limit is {limit.limit}:", *lines]
    )


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """List the tests that synchronized, the worst first."""
    if not terminalreporter.config.getoption("syncscan"):
        return
    counts = [
        (count, report.nodeid)
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", None) == "call"
        for name, count in report.user_properties
        if name == PROPERTY
    ]
    waiting = sorted((entry for entry in counts if entry[0]), reverse=True)
    terminalreporter.section("synchronizations")
    total = sum(count for count, _ in waiting)
    terminalreporter.line(f"{total} in {len(waiting)} of {plural(len(counts), 'test')}")
    for count, name in waiting[:MAX_LINES]:
        terminalreporter.line(f"{count:6} {name}")


def _mode(text: str) -> str:
    if text not in MODES:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not one of {MODES}; before a path, write --syncscan=gpu"
        )
    return text


def _limit(item: pytest.Item) -> Limit | None:
    marker = item.get_closest_marker("limit_syncs")
    if marker is None:
        return None
    try:
        limit = Limit(*marker.args, **marker.kwargs)
        valid = all(isinstance(number, int) and number >= 0 for number in (limit.limit, limit.warmups))
    except TypeError:
        valid = False
    if not valid:
        pytest.fail("write limit_syncs(limit, warmups=0), with whole numbers from 0 on", pytrace=False)
    return limit


def _has_cuda() -> bool:
    try:
        import torch  # noqa: PLC0415 (needed only where tests ask for it)
    except ImportError:
        return False
    return bool(torch.cuda.is_available())

"""A pytest plugin: of each test function, at most three sets of parameters run, the first, the middle and the last."""

from collections import defaultdict

import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the other sets of parameters."""
    by_function: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        by_function[item.nodeid.partition("[")[0]].append(item)
    chosen = {id(found[at]) for found in by_function.values() for at in (0, len(found) // 2, -1)}
    config.hook.pytest_deselected(items=[item for item in items if id(item) not in chosen])
    items[:] = [item for item in items if id(item) in chosen]

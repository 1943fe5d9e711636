"""The pages that are meant to be followed do what they say: every command prints what the page shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clones import copy_parts
from tests.pages import play

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
IN_A_CLONE = ("README.md", "docs", "mkdocs.yml", "pyproject.toml", "rules", "syncscan", "tests")
PAGES = [DOCS / "tutorial.md", *sorted((DOCS / "how-to").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_prints_what_it_shows(page, tmp_path):
    if page.stem == "add-a-rule":
        copy_parts(IN_A_CLONE, tmp_path)
    assert play(page.read_text(encoding="utf-8"), tmp_path) == []


def test_a_page_that_shows_something_else_is_found_out(tmp_path):
    page = '```python title="a.py"\nprint(1)\n```\n```console\n$ python a.py\n2\n$ echo 3\n3\n```\n'
    assert play(page, tmp_path) == [("python a.py", "2\n", "1\n")]
